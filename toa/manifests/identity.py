"""What a component is called, and in which package it lives."""

from __future__ import annotations

from pathlib import Path

from toa.manifests.fields import Fields
from toa.manifests.names import MAX_NAME, name_problem
from toa.manifests.place import Place
from toa.manifests.problems import WRONG_NAME

RESERVED = "toa"
"""Taken by toa's own routes and tables."""

_NOT_PACKAGES = frozenset({"src", "lib", "apps"})


def component_names(fields: Fields, package: str) -> tuple[str, str] | None:
    """Namespace (may be empty) and name, as given or by the last two parts of the package; null if unusable."""
    place = fields.place
    before = place.report.errors()
    *above, last = package.split(".")
    name = fields.text("name", last)
    namespace = fields.text("namespace", above[-1] if above else "")
    for key, text in (("namespace", namespace), ("name", name)):
        problem = name_problem(text) if text or key == "name" else None
        if text == RESERVED:
            problem = f"'{RESERVED}' is taken by toa itself"
        if problem:
            _at(fields, key).error(problem, hint="" if key in fields else f"give the manifest a `{key}`", id=WRONG_NAME)
    label = f"{namespace}_{name}" if namespace else name
    if len(label) > MAX_NAME:
        _at(fields, "name").error(
            f"'{label}' has {len(label)} characters, and a table's name at most {MAX_NAME}", id=WRONG_NAME
        )
    return None if place.report.errors() > before else (namespace, name)


def package_of(directory: Path, *roots: Path) -> str:
    """The package of a directory, worked out from the directories above it.

    Those with an `__init__.py` belong to it; so does one more without, if it lies below the working directory or below
    one of `roots`, where a project is.
    """
    directory = directory.resolve()
    parts = [directory.name]
    above = directory.parent
    while (above / "__init__.py").is_file() and above.name.isidentifier():
        parts.insert(0, above.name)
        above = above.parent
    inside = any(root.resolve() in above.parents for root in (Path.cwd(), *roots))
    if len(parts) == 1 and inside and above.name.isidentifier() and above.name not in _NOT_PACKAGES:
        parts.insert(0, above.name)
    return ".".join(parts)


def _at(fields: Fields, key: str) -> Place:
    return fields.get(key) or fields.place
