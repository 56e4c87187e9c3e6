"""A journal: the steps that were done, each with its answer, and what of it is not written yet."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toa.core.error import Error
from toa.core.identity import dumps
from toa.core.record import as_record
from toa.core.traces import LONGEST_SENTENCE, keepable, words
from toa.exceptions import StepFailed, ToaError
from toa.runtime.starting import MOST_BYTES

MOST_STEPS = 10_000
"""Steps that a journal holds at most; a watch and a retry start over with each round."""


class Answer(StrEnum):
    """How a step ended."""

    MADE = "made"
    """Its value is what the workflow is given."""
    ERROR = "error"
    """The operation replied with an Error, which is what the workflow is given."""
    RAISED = "raised"
    EXPIRED = "expired"
    """A deadline ended it; the value is the place of the deadline."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step as it was done. `at` is epoch ms."""

    kind: str
    name: str
    outcome: Answer
    value: Any
    at: int

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()

    def given(self) -> Any:
        """What the workflow is given; the same at every replay. Raises what the step raised."""
        if self.outcome is Answer.RAISED:
            raise _revived(self.value)
        if self.outcome is Answer.ERROR:
            return Error(self.value["code"], **self.value["details"])
        return as_record(self.value)


class Journal:
    """The entries of one run by position, and which of them the database does not have yet."""

    def __init__(self, stored: Iterable[tuple[int, Entry]] = ()) -> None:
        self._entries = dict(stored)
        self._stored = set(self._entries)
        self._changed: set[int] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, position: int) -> Entry | None:
        return self._entries.get(position)

    def items(self) -> list[tuple[int, Entry]]:
        """Every entry, in order."""
        return sorted(self._entries.items())

    def set(self, position: int, entry: Entry) -> None:
        self._entries[position] = entry
        self._changed.add(position)

    def cut(self, position: int) -> None:
        """Forget the entries from a position on."""
        for one in [one for one in self._entries if one >= position]:
            del self._entries[one]
            self._changed.discard(one)

    def removed(self) -> list[int]:
        """Positions that the database still has."""
        return sorted(self._stored - self._entries.keys())

    def written(self) -> list[tuple[int, Entry, bool]]:
        """Entries to be written; true where one of that position is there to be replaced."""
        return [(one, self._entries[one], one in self._stored) for one in sorted(self._changed)]

    def committed(self) -> None:
        """The database has it all."""
        self._stored = set(self._entries)
        self._changed.clear()


def answered(reply: Any, what: str) -> tuple[Answer, Any]:
    """A reply as a journal keeps it. Raises StepFailed for one that is too large or is no JSON."""
    if isinstance(reply, Error):
        return Answer.ERROR, _bounded({"code": reply.code, "details": reply.details}, what)
    return Answer.MADE, _bounded(reply, what)


def raised(error: BaseException) -> tuple[Answer, Any]:
    """An exception as a journal keeps it."""
    kind = type(error)
    arguments: list[Any] = list(error.args)
    said = words(error)[:LONGEST_SENTENCE]
    try:
        text = dumps(arguments)
        # A document of PostgreSQL holds no NUL, in whatever way it is written.
        arguments = json.loads(text) if text == keepable(text) and "\\u0000" not in text else [said]
    except (TypeError, ValueError):
        arguments = [said]
    value: dict[str, Any] = {"type": f"{kind.__module__}:{kind.__qualname__}", "args": arguments, "text": said}
    if isinstance(error, ToaError):
        more = {"hint": error.hint, "kind": error.kind if isinstance(error, StepFailed) else ""}
        value["words"] = {name: word for name, word in more.items() if word}
    if len(dumps(value)) > MOST_BYTES:
        value["args"] = [value["text"]]
    return Answer.RAISED, value


def _bounded(value: Any, what: str) -> Any:
    try:
        text = dumps(value)
    except (TypeError, ValueError) as error:
        raise StepFailed(f"{what} is no JSON: {error}", kind=type(error).__name__) from error
    if len(text) > MOST_BYTES:
        raise StepFailed(f"{what} has {len(text)} bytes of JSON; {MOST_BYTES} are the most", kind="InvalidInput")
    return json.loads(text)


def _revived(value: dict[str, Any]) -> Exception:
    """The exception again, where its type can still be found and made; else a StepFailed that names it."""
    module, _, name = value["type"].partition(":")
    made: Any = None
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        if isinstance(found, type) and issubclass(found, Exception):
            made = found(*value["args"], **value.get("words", {}))
    except Exception:  # whatever a class makes of these arguments
        made = None
    return made if isinstance(made, Exception) else StepFailed(f"{name}: {value['text']}", kind=name)
