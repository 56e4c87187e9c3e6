"""What is wrong with a manifest, and where: one sentence, its place, and what to type instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["error", "warning"]

UNREADABLE = "toa.E001"
SYNTAX = "toa.E002"
DUPLICATE_KEY = "toa.E003"
UNKNOWN_KEY = "toa.E004"
WRONG_KIND = "toa.E005"
WRONG_VALUE = "toa.E006"
WRONG_NAME = "toa.E007"
PROPERTY = "toa.E008"
SCHEMA = "toa.E009"
INDEX = "toa.E010"
CRITERIA = "toa.E011"
UNKNOWN_OPERATION = "toa.E012"
OPERATION = "toa.E013"
OPERATION_FILE = "toa.E014"
EVENT = "toa.E015"
RECEIVER = "toa.E016"
PULSE = "toa.E017"
SCHEDULE = "toa.E018"
TARGET = "toa.E019"
DEADLINE = "toa.E020"
CONFIGURATION = "toa.E021"
EXPOSITION = "toa.E022"
UNKNOWN_EVENT = "toa.E023"
CLASHING_COMPONENTS = "toa.E024"

UNSERVED_CRITERIA = "toa.W001"
TIMER_IN_MEMORY = "toa.W002"
UNCONDITIONAL_EVENT = "toa.W003"
UNKNOWN_COMPONENT = "toa.W004"

MEANINGS: dict[str, str] = {
    UNREADABLE: "the file cannot be read: missing, too large, not UTF-8",
    SYNTAX: "the text is not the YAML that manifests are written in",
    DUPLICATE_KEY: "a key stands twice in one mapping",
    UNKNOWN_KEY: "a key that is not known here",
    WRONG_KIND: "a value of another kind than the key takes",
    WRONG_VALUE: "a value that the key does not take",
    WRONG_NAME: "a name that cannot be used",
    PROPERTY: "a property of the entity does not hold",
    SCHEMA: "a JSON Schema does not hold",
    INDEX: "a unique rule or an index does not hold",
    CRITERIA: "criteria that cannot be read, or do not fit the properties",
    UNKNOWN_OPERATION: "an operation that does not exist",
    OPERATION: "the declaration of an operation does not hold",
    OPERATION_FILE: "a file of an operation, an event or receivers does not hold",
    EVENT: "the declaration of an event does not hold",
    RECEIVER: "a receiver does not hold",
    PULSE: "a pulse does not hold",
    SCHEDULE: "a schedule does not hold",
    TARGET: "the operation does not take what it would be sent",
    DEADLINE: "a deadline does not hold",
    CONFIGURATION: "the configuration does not hold",
    EXPOSITION: "an exposition does not hold",
    UNKNOWN_EVENT: "an event that no component has",
    CLASHING_COMPONENTS: "two components, or a component and a namespace, clash",
    UNSERVED_CRITERIA: "no index serves the criteria of a sweep",
    TIMER_IN_MEMORY: "an operation's source keeps a timer in memory",
    UNCONDITIONAL_EVENT: "an event without a condition is raised by every commit",
    UNKNOWN_COMPONENT: "a receiver names a component that was not found",
}
"""What each id stands for; the reference page lists them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that does not hold.

    `path` is the file as shown, `line` and `column` count from 1, `where` is the dotted path of the key inside the
    document (empty for the whole file), `hint` says what to do about it.
    """

    path: str
    line: int
    column: int
    where: str
    message: str
    id: str
    hint: str = ""
    level: Level = "error"

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.path}:{self.line}:{self.column}: {where}{self.message}{hint}"

    def as_json(self) -> dict[str, Any]:
        """The problem as JSON-ready data, key by key."""
        return asdict(self)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems by file, line and column, each once."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.path, p.line, p.column, p.id, p.message)))
