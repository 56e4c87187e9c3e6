"""Problems of manifests as messages of Django's checks, and messages as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core import checks

from toa.manifests.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a manifest's problem is: what Django shows in front of a message."""

    path: str
    line: int
    column: int
    where: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


def message_of(problem: Problem) -> checks.CheckMessage:
    """The message of Django's checks that says the same."""
    kind = checks.Error if problem.level == "error" else checks.Warning
    where = f"{problem.where}: " if problem.where else ""
    place = Place(path=problem.path, line=problem.line, column=problem.column, where=problem.where)
    return kind(f"{where}{problem.message}", hint=problem.hint or None, obj=place, id=problem.id)


def as_line(message: checks.CheckMessage) -> str:
    """A message as one line: place, what, what to do, id."""
    place = "" if message.obj is None else f"{_shown(message.obj)}: "
    hint = f"; {message.hint}" if message.hint else ""
    return f"{place}{message.msg}{hint} [{message.id}]"


def as_json(message: checks.CheckMessage) -> dict[str, Any]:
    """A message as JSON-ready data, with the keys that a manifest's problem has; line and column are null without."""
    place = message.obj if isinstance(message.obj, Place) else None
    where = place.where if place else ""
    return {
        "path": place.path if place else _shown(message.obj),
        "line": place.line if place else None,
        "column": place.column if place else None,
        "where": where,
        "message": message.msg.removeprefix(f"{where}: ") if where else message.msg,
        "id": message.id,
        "hint": message.hint or "",
        "level": "error" if message.is_serious() else "warning",
    }


def _shown(obj: Any) -> str:
    if obj is None:
        return ""
    return str(obj._meta.label) if hasattr(obj, "_meta") else str(obj)
