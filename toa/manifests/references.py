"""`$ref` inside a schema: which lead in circles, and how to move a part without breaking them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toa.manifests.pointers import parts, resolve

# Keywords that apply a schema to the very same value, not to a part of it.
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")

_HOME = "root"


def endless(root: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The path of a `$ref` that comes back to itself without going into the value, or null.

    A validator would follow it for ever. References that go into properties or items are fine: values end.
    """
    for reference in sorted(_references(root)):
        if _returns(root, reference, (reference,)):
            return (*parts(reference), "$ref")
    return None


def _references(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(_references(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(_references(part) for part in value))
    return set()


def _returns(root: Any, reference: str, seen: tuple[str, ...]) -> bool:
    ahead = _in_place(resolve(root, reference))
    return any(found in seen or _returns(root, found, (*seen, found)) for found in ahead)


def _in_place(schema: Any) -> set[str]:
    """The references that apply to the same value as the schema does."""
    if not isinstance(schema, Mapping):
        return set()
    if "$ref" in schema:
        return {schema["$ref"]}
    inner = [part for key in _IN_PLACE_LISTS for part in schema.get(key, ())]
    inner += [schema[key] for key in _IN_PLACE if key in schema]
    return set().union(*(_in_place(part) for part in inner))


def rebased(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A part of `root` as a schema of its own: its references still lead to where they led."""
    if not _references(schema):
        return dict(schema)
    moved: dict[str, Any] = _moved(schema)
    return {**moved, "definitions": {_HOME: _moved(root)}}


def _moved(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: f"#/definitions/{_HOME}{part[1:]}" if key == "$ref" and isinstance(part, str) else _moved(part)
            for key, part in value.items()
        }
    return [_moved(part) for part in value] if isinstance(value, list) else value
