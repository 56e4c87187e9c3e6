"""A file as plain data, with the position of every key and value in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toa.manifests.problems import Problem

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead from the whole document to a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a file; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as plain data. `data` is null where nothing could be read; `problems` says why."""

    path: str
    data: Any = None
    keys: Mapping[Path, Position] = field(default_factory=dict)
    """Where the key of an entry stands."""
    values: Mapping[Path, Position] = field(default_factory=dict)
    """Where a value begins."""
    problems: tuple[Problem, ...] = ()

    def position(self, path: Path, *, key: bool = False) -> Position:
        """The place of a value, or of its key; of the nearest enclosing one where it has none of its own."""
        while path:
            found = (key and self.keys.get(path)) or self.values.get(path)
            if found:
                return found
            path, key = path[:-1], True
        return self.values.get((), Position(line=1, column=1))


def where(path: Path) -> str:
    """A path as text: `cadence.expire[1].cycle`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
