"""The verbs of `manage.py toa`: one module each, found by its name.

A module of this package that does not begin with `_` is a verb. It has

``HELP``
    one sentence, shown by `--help`;
``CHECKED`` (optional, default true)
    whether Django's system checks must pass before it runs;
``arguments(parser)``
    adds its arguments; with `json_option(parser)` among them it can print one JSON document;
``run(options, console)``
    does it, and returns the exit code: 0 for done, 1 for "no", 2 for a wrong use. Sentences for a person that
    end a command are raised as `CommandError`.
"""

from __future__ import annotations

import importlib
import pkgutil
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Protocol, cast

from toa.management.console import Console

DONE = 0
NO = 1
USAGE = 2


class Verb(Protocol):
    """A module of this package."""

    HELP: str

    def arguments(self, parser: ArgumentParser) -> None: ...

    def run(self, options: Mapping[str, Any], console: Console) -> int: ...


def names() -> list[str]:
    """The names of all verbs, in order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def verb(name: str) -> Verb:
    """The verb of that name."""
    return cast(Verb, importlib.import_module(f"{__name__}.{name}"))


def is_checked(verb: Verb) -> bool:
    """Whether the system checks must pass before the verb runs."""
    return bool(getattr(verb, "CHECKED", True))


def json_option(parser: ArgumentParser) -> None:
    """Let the verb take `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
