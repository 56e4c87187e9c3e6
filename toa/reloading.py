"""Autoreload on manifests, operations and events: what `runserver` would not watch by itself.

Manifests are no modules, and the functions of operations are imported only when they are first called.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.utils.autoreload import BaseReloader

from toa.manifests import registry
from toa.manifests.compile import FILENAME, find_package

PATTERNS = (FILENAME, "operations/*.py", "events/*.py", "receivers.py")
"""Files of a component that decide what it does, below its folder."""


def watch(sender: BaseReloader, **kwargs: Any) -> None:
    """Have the reloader watch the components; receiver of `autoreload_started`."""
    for package in registry.packages():
        folder = find_package(package)
        if folder is None:
            continue
        for pattern in PATTERNS:
            # Folders are watched, not files: one that is added tomorrow counts as well.
            path = Path(folder, pattern)
            sender.watch_dir(path.parent, path.name)
