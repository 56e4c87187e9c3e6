"""A place in a document: a value, where it stands, and a way to say what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toa.manifests.document import Document, Path, where
from toa.manifests.problems import WRONG_KIND, Level, Problem


class Report:
    """The problems of one document, in the order they are found."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = list(document.problems)
        # What could not be read is null from here on, and is not reported a second time for being null.
        self._unread = {problem.where for problem in document.problems if problem.where}

    def add(
        self, path: Path, message: str, *, id: str, hint: str = "", level: Level = "error", key: bool = False
    ) -> None:
        if where(path) in self._unread:
            return
        at = self.document.position(path, key=key)
        self.problems.append(
            Problem(
                path=self.document.path,
                line=at.line,
                column=at.column,
                where=where(path),
                message=message,
                hint=hint,
                id=id,
                level=level,
            )
        )

    def errors(self) -> int:
        """How many errors there are so far; a part that adds none is sound."""
        return sum(problem.level == "error" for problem in self.problems)


class Place:
    """A value of the document with its path. Cheap: made while walking, never kept."""

    __slots__ = ("path", "report", "value")

    def __init__(self, report: Report, path: Path = (), value: Any = None) -> None:
        self.report = report
        self.path = path
        self.value = value

    @property
    def name(self) -> str:
        """The key under which the value stands."""
        return str(self.path[-1]) if self.path else ""

    def at(self, *path: str | int) -> Place:
        """A place below this one. A part that is not there keeps the path, so that it can still be reported."""
        value = self.value
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                value = None
        return Place(self.report, (*self.path, *path), value)

    def entries(self) -> Iterator[Place]:
        """The values of a mapping or a list. Anything else has none and is reported."""
        if isinstance(self.value, dict):
            for key in self.value:
                yield self.at(key)
        elif isinstance(self.value, list):
            for index in range(len(self.value)):
                yield self.at(index)
        elif self.value is not None:
            self.error(f"must be a mapping, not {described(self.value)}", id=WRONG_KIND)

    def error(self, message: str, *, id: str, hint: str = "", key: bool = False) -> None:
        """Report an error at the value, or with `key` at its key."""
        self.report.add(self.path, message, id=id, hint=hint, key=key)

    def warning(self, message: str, *, id: str, hint: str = "", key: bool = False) -> None:
        self.report.add(self.path, message, id=id, hint=hint, level="warning", key=key)


def described(value: Any) -> str:
    """A value as a refusal names it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else f"the text {value[:37]!r}..."
    return f"a {type(value).__name__}"  # which no file holds, but settings may
