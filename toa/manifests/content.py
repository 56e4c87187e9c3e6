"""What no value may hold, whatever its schema says: what PostgreSQL or JSON could not carry unchanged."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

MAX_DEPTH = 64
MAX_ITEMS = 100_000
MAX_TEXT = 10_000_000
MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**63 - 1

_SURROGATE = re.compile("[\ud800-\udfff]")

Pointer = tuple[str | int, ...]
Node = Callable[[Any, int], Any]
"""Takes a value and its depth, returns it normalised: the same object where nothing had to change."""


class Unfit(Exception):
    """A value that does not hold. `problems` are its places and sentences; `value` is what could be made of it."""

    def __init__(self, problems: list[tuple[Pointer, str]], value: Any = None) -> None:
        super().__init__(problems)
        self.problems = problems
        self.value = value

    @classmethod
    def here(cls, message: str, value: Any = None) -> Unfit:
        return cls([((), message)], value)

    def under(self, part: str | int) -> list[tuple[Pointer, str]]:
        """The problems as seen from the mapping or list that holds the value at `part`."""
        return [((part, *path), message) for path, message in self.problems]


def text(value: str) -> str:
    """Text as it is. Raises Unfit for NUL characters, lone surrogates and text without end."""
    if "\0" in value:
        raise Unfit.here("text cannot hold a NUL character", value)
    if not value.isascii() and _SURROGATE.search(value):
        raise Unfit.here("text cannot hold a lone surrogate", "")
    if len(value) > MAX_TEXT:
        raise Unfit.here(f"text of {len(value)} characters is too long", "")
    return value


def guard(value: Any, depth: int, decimals: bool = False) -> Any:
    """Any JSON value as it is, tuples as lists and other mappings as dicts. Raises Unfit for what cannot be carried.

    `decimals` lets a `Decimal` pass that another part of the schema has read.
    """
    kind = type(value)
    if kind is str:
        return text(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise Unfit.here("an integer must fit 64 bits", 0)
        return value
    if kind is float:
        if not math.isfinite(value):
            raise Unfit.here(f"{value} is not a JSON number", 0)
        return value
    if isinstance(value, Mapping):
        return walk_mapping(value, depth, {}, (lambda key: lenient) if decimals else None)
    if isinstance(value, (list, tuple)):
        return walk_list(value, depth, (lambda index: lenient) if decimals else None)
    if decimals and isinstance(value, Decimal):
        if not value.is_finite():
            raise Unfit.here(f"{value} is no amount", None)
        return value
    return _other(value, depth)


def lenient(value: Any, depth: int) -> Any:
    """`guard` that lets a `Decimal` pass."""
    return guard(value, depth, decimals=True)


def walk_mapping(
    value: Mapping[Any, Any], depth: int, children: Mapping[str, Node], rest: Callable[[str], Node] | None = None
) -> dict[str, Any]:
    """A mapping with each value passed through its node, the same object where none changed.

    `children` are nodes by key, `rest` finds the node of any other key; without it that is `guard`.
    """
    if depth > MAX_DEPTH:
        raise Unfit.here(f"nested deeper than {MAX_DEPTH} levels", {})
    if len(value) > MAX_ITEMS:
        raise Unfit.here(f"{len(value)} items are more than {MAX_ITEMS}", {})
    # Whatever mapping comes in, what goes on is a dict: validators and JSON know no other.
    result: dict[str, Any] = value if isinstance(value, dict) else dict(value)
    problems: list[tuple[Pointer, str]] = []
    for name, old in value.items():
        try:
            node = children.get(name)
            if node is None:
                _key(name)
                node = guard if rest is None else rest(name)
            new = node(old, depth + 1)
        except Unfit as unfit:
            problems += unfit.under(name if isinstance(name, str) else repr(name))
            new = unfit.value
        if new is not old:
            if result is value:
                result = dict(value)
            result[name] = new
    if problems:
        raise Unfit(problems, result)
    return result


def walk_list(
    value: list[Any] | tuple[Any, ...], depth: int, node_at: Callable[[int], Node] | None = None
) -> list[Any]:
    """A list with each value passed through its node, the same object where none changed. A tuple becomes a list."""
    if depth > MAX_DEPTH:
        raise Unfit.here(f"nested deeper than {MAX_DEPTH} levels", [])
    if len(value) > MAX_ITEMS:
        raise Unfit.here(f"{len(value)} items are more than {MAX_ITEMS}", [])
    result = value if isinstance(value, list) else list(value)
    problems: list[tuple[Pointer, str]] = []
    for index, old in enumerate(value):
        try:
            new = (guard if node_at is None else node_at(index))(old, depth + 1)
        except Unfit as unfit:
            problems += unfit.under(index)
            new = unfit.value
        if new is not old:
            if result is value:
                result = list(value)
            result[index] = new
    if problems:
        raise Unfit(problems, result)
    return result


def _key(value: Any) -> None:
    if not isinstance(value, str):
        raise Unfit.here(f"a key must be text, not {type(value).__name__}")
    text(value)


def _other(value: Any, depth: int) -> Any:
    """Subclasses of the JSON types (an enum that is text, say), and what is none of them."""
    if isinstance(value, str):
        return guard(str.__str__(value), depth)
    if isinstance(value, int):
        return guard(int(value), depth)
    if isinstance(value, float):
        return guard(float(value), depth)
    if isinstance(value, Decimal):
        raise Unfit.here("a Decimal fits only where the schema says `format: decimal`", None)
    raise Unfit.here(f"a {type(value).__name__} is no JSON value", None)
