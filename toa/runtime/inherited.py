"""The operations that every component with an entity has without writing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toa.core.draft import Draft


def observe(input: Any, entry: Any, context: Any) -> Any:
    """The object as it is, or null."""
    return entry


def enumerate(input: Any, entries: Any, context: Any) -> Any:
    """The objects that the query selects."""
    return entries


def assign(input: Any, changeset: Any, context: Any) -> None:
    """The input becomes the changeset as it stands."""


def terminate(input: Any, entry: Draft, context: Any) -> None:
    """Leaves a tombstone: reads skip it, its unique values are free again."""
    entry.DELETED = context.now()


def ensure(input: Any, entry: Draft, context: Any) -> Any:
    """The object of that id, made from the input where there is none yet."""
    if not entry.VERSION:
        for name, value in (input or {}).items():
            entry[name] = value
    return dict(entry)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "observe": observe,
    "enumerate": enumerate,
    "assign": assign,
    "terminate": terminate,
    "ensure": ensure,
}
CREATING = frozenset({"ensure"})
"""Inherited transitions that make a missing object."""
TOMBSTONING = frozenset({"terminate"})
"""Inherited transitions that may write DELETED."""
