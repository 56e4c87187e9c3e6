"""`toa new component` and `toa new operation`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from toa.core.specs import ComponentSpec, OperationType, Scope
from toa.exceptions import UnknownEndpoint
from toa.management.console import Console
from toa.management.scaffolding import Files, OperationForm, component_files, operation_file, operation_lines
from toa.management.verbs import DONE
from toa.manifests import registry
from toa.manifests.compile import FILENAME, find_package, load_path, shown_path
from toa.manifests.identity import RESERVED
from toa.manifests.names import MAX_NAME, a_type, name_problem
from toa.manifests.sources import SCOPES
from toa.manifests.types.component import FILENAME as TYPES
from toa.manifests.types.component import types_of

HELP = "Write the files of a new component or operation; nothing that is there is touched."
CHECKED = False


def arguments(parser: ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", required=True, metavar="component | operation")
    text = "Write a package below the working directory, such as store.reviews."
    component = what.add_parser("component", help=text, description=text)
    component.add_argument("package", metavar="PACKAGE")
    component.add_argument("--stateless", action="store_true", help="without an entity")
    text = "Write the file of an operation, such as store.reviews.publish, and print its lines for the manifest."
    operation = what.add_parser("operation", help=text, description=text)
    operation.add_argument("endpoint", metavar="ENDPOINT")
    operation.add_argument(
        "--type", choices=[kind.value for kind in OperationType], default=OperationType.TRANSITION.value
    )
    operation.add_argument("--entries", action="store_true", help="of a transition or an observation: over a set")


def run(options: Mapping[str, Any], console: Console) -> int:
    if options["what"] == "component":
        _component(options["package"], options["stateless"], console)
    else:
        _operation(options["endpoint"], OperationType(options["type"]), options["entries"], console)
    return DONE


def _component(package: str, stateless: bool, console: Console) -> None:
    parts = package.split(".")
    _named(parts)
    label = "_".join(parts[-2:])
    if RESERVED in parts[-2:]:
        raise CommandError(f"'{RESERVED}' is taken by toa itself")
    if len(label) > MAX_NAME:
        raise CommandError(f"'{label}' is too long for a table")
    files = component_files(package, stateless=stateless)
    root = Path.cwd()
    above = [root.joinpath(*parts[:depth], "__init__.py") for depth in range(1, len(parts))]
    written = _write(root, files)
    for path in above:
        if not path.exists():
            path.touch()
            written.append(path)
    loaded = load_path(root.joinpath(*parts, FILENAME), package)
    assert loaded.spec is not None and not loaded.problems, [str(problem) for problem in loaded.problems]
    written += _write(root, {f"{'/'.join(parts)}/{TYPES}": types_of(loaded.spec)})
    for path in sorted(written):
        console.say(f"{shown_path(path)} written")
    console.say(f"Now add '{package}' to INSTALLED_APPS.")
    if not stateless:
        console.say(f"Then: manage.py makemigrations {loaded.spec.label} && manage.py migrate")


def _operation(endpoint: str, kind: OperationType, entries: bool, console: Console) -> None:
    locator, _, name = endpoint.rpartition(".")
    _named([name])
    try:
        spec = registry.component(locator)
    except UnknownEndpoint as error:
        raise CommandError(f"{error}; a component must be in INSTALLED_APPS") from None
    form = OperationForm(name=name, type=kind, scope=_scope(kind, entries))
    if spec.entity is None and form.scope is not Scope.NONE:
        raise CommandError(f"{locator} has no entity, which {a_type(kind)} needs; --type effect or computation")
    folder = find_package(spec.package)
    assert folder is not None, "its manifest was read from there"
    for path in _write(folder, {f"operations/{name}.py": operation_file(spec, form)}):
        console.say(f"{shown_path(path)} written")
    _say_lines(spec, form, console)


def _say_lines(spec: ComponentSpec, form: OperationForm, console: Console) -> None:
    console.say(f"Add to {spec.path}:")
    console.say()
    console.say("\n".join(["operations:", *operation_lines(form)]))
    console.say()
    console.say("Then: manage.py toa types")


def _scope(kind: OperationType, entries: bool) -> Scope:
    if entries and Scope.ENTRIES not in SCOPES[kind]:
        raise CommandError(f"{a_type(kind)} is not over a set; --entries goes with a transition or an observation")
    return Scope.ENTRIES if entries else SCOPES[kind][0]


def _named(parts: list[str]) -> None:
    for part in parts:
        problem = name_problem(part)
        if problem:
            raise CommandError(problem)


def _write(root: Path, files: Files) -> list[Path]:
    """Write all files, or none where one is there; returns their paths."""
    paths = {root / name: content for name, content in files.items()}
    there = [shown_path(path) for path in paths if path.exists()]
    if there:
        raise CommandError(f"{', '.join(sorted(there))} is there already; nothing was written")
    for path, content in paths.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
        except OSError as error:
            raise CommandError(f"{shown_path(path)} cannot be written: {error.strerror or error}") from error
    return list(paths)
