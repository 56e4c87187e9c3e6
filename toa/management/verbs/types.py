"""`toa types`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from toa.core.specs import ComponentSpec
from toa.exceptions import UnknownEndpoint
from toa.management.console import Console
from toa.management.verbs import DONE, NO, json_option
from toa.manifests import registry
from toa.manifests.compile import find_package, shown_path
from toa.manifests.types.component import FILENAME, types_of

HELP = "Write `types.py` for each component: input, entry and context types for editors and type checkers."
CHECKED = False


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "components",
        nargs="*",
        metavar="COMPONENT",
        help="such as store.orders; by default every one below the working directory",
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and exit with 1 where a file is stale")
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    wanted = {_path(spec): types_of(spec) for spec in _chosen(options["components"])}
    stale = [path for path, text in wanted.items() if _present(path) != text]
    if not options["check"]:
        for path in stale:
            path.write_text(wanted[path], encoding="utf-8", newline="\n")
    names = [shown_path(path) for path in stale]
    if console.as_json:
        console.document({"stale" if options["check"] else "written": names})
    else:
        for name in names:
            console.say(f"{name} is stale: manage.py toa types" if options["check"] else f"{name} written")
        console.say(f"{len(wanted) - len(stale)} of {len(wanted)} were as they should be")
    return NO if stale and options["check"] else DONE


def _chosen(names: list[str]) -> list[ComponentSpec]:
    """The components asked for. One whose manifest does not hold has no types."""
    try:
        chosen = [registry.component(name) for name in names] or [
            spec for spec in registry.all().values() if _own(spec)
        ]
    except UnknownEndpoint as error:
        raise CommandError(str(error)) from None
    if not chosen:
        raise CommandError(f"no component lies below {Path.cwd()}; go to the project, or name one")
    paths = {spec.path for spec in chosen}
    broken = [problem for problem in registry.problems() if problem.level == "error" and problem.path in paths]
    if broken:
        raise CommandError("\n".join(f"{problem} [{problem.id}]" for problem in broken))
    return chosen


def _own(spec: ComponentSpec) -> bool:
    """Whether a component is the project's: those of installed packages bring their types along."""
    return _path(spec).resolve().is_relative_to(Path.cwd())


def _path(spec: ComponentSpec) -> Path:
    folder = find_package(spec.package)
    assert folder is not None, "its manifest was read from there"
    return folder / FILENAME


def _present(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
