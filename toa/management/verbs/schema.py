"""`toa schema`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from toa.management.console import Console
from toa.management.verbs import DONE
from toa.manifests.editor import SCHEMA_PATH

HELP = "Print the JSON Schema (draft-07) of manifests, for editors."
CHECKED = False


def arguments(parser: ArgumentParser) -> None:
    """It takes none."""


def run(options: Mapping[str, Any], console: Console) -> int:
    console.say(SCHEMA_PATH.read_text(encoding="utf-8").rstrip("\n"))
    return DONE
