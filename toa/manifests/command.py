"""`python -m toa`: what works without a project."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from toa.manifests.checking import check
from toa.manifests.compile import FILENAME
from toa.manifests.editor import SCHEMA_PATH

DONE = 0
PROBLEMS = 1
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, 1 where manifests have errors, or 2 where there is nothing to check."""
    parser = argparse.ArgumentParser(
        prog="python -m toa", description="Commands that need no project. `manage.py toa` has all of them."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    checking = commands.add_parser("check", help=f"check every {FILENAME} below the paths")
    checking.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a folder or a manifest")
    checking.add_argument("--json", action="store_true", help="print the problems as JSON")
    commands.add_parser("schema", help="print the JSON Schema of manifests, for editors")
    options = parser.parse_args(arguments)
    if options.command == "schema":
        sys.stdout.write(SCHEMA_PATH.read_text(encoding="utf-8"))
        return DONE
    return _check(options.paths, as_json=options.json)


def _check(paths: Sequence[Path], *, as_json: bool) -> int:
    for path in paths:
        if not path.exists():
            print(f"{path} does not exist", file=sys.stderr)
            return USAGE
    checked = check(paths)
    if not checked.manifests:
        print(f"there is no {FILENAME} below {', '.join(map(str, paths))}", file=sys.stderr)
        return USAGE
    if as_json:
        print(json.dumps({"problems": [problem.as_json() for problem in checked.problems]}, indent=2))
    else:
        for problem in checked.problems:
            print(f"{problem} [{problem.id}]")
        print(f"{_counted(len(checked.manifests), 'manifest')}: {summary(checked.errors, checked.warnings)}")
    return PROBLEMS if checked.errors else DONE


def summary(errors: int, warnings: int) -> str:
    """How many there are, in words: `1 error and 2 warnings`."""
    counts = [_counted(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    return " and ".join(counts) or "nothing wrong"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
