"""How an import tells of itself: a progress bar on a terminal, plain lines everywhere else."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, TextIO

from django.core.management.base import OutputWrapper

from shop.importing import Handled, Outcome

EVERY_S = 5.0
"""How often plain output says how far it is."""


class Report(AbstractContextManager["Report"], Protocol):
    """Told of each row, and of what concerns the file as a whole."""

    def say(self, sentence: str) -> None:
        """A line of its own."""
        ...

    def row(self, handled: Handled) -> None:
        """One more row is done."""
        ...


def counted(counts: Counter[Outcome]) -> str:
    """`640 rows: 612 created, 3 already there, 25 refused`."""
    parts = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome)
    return f"{counts.total()} rows: {parts}"


class Lines:
    """Plain lines: each refusal, and now and then how far it is."""

    def __init__(self, name: str, size: int, out: TextIO | OutputWrapper) -> None:
        self._name = name
        self._size = size
        self._out = out
        self._rows = 0
        self._said_at = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._out.flush()

    def say(self, sentence: str) -> None:
        self._out.write(f"{sentence}\n")

    def row(self, handled: Handled) -> None:
        self._rows += 1
        if handled.outcome is Outcome.REFUSED:
            self.say(f"{self._name}:{handled.row.number}: {handled.reason}")
        if time.monotonic() - self._said_at >= EVERY_S:
            self._said_at = time.monotonic()
            share = f", {handled.row.end * 100 // self._size} %" if self._size else ""
            self.say(f"{self._name}: {self._rows} rows{share}")
            self._out.flush()


class Bar:
    """A progress bar by bytes read, with the refusals above it."""

    def __init__(self, name: str, size: int, *, stderr: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._name = name
        self._counts: Counter[Outcome] = Counter()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counts]}"),
            console=Console(stderr=stderr, highlight=False, soft_wrap=True),
        )
        self._task = self._progress.add_task(name, total=size or None, counts="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, sentence: str) -> None:
        self._progress.console.print(sentence, markup=False)

    def row(self, handled: Handled) -> None:
        self._counts[handled.outcome] += 1
        if handled.outcome is Outcome.REFUSED:
            self.say(f"{self._name}:{handled.row.number}: {handled.reason}")
        self._progress.update(self._task, completed=handled.row.end, counts=counted(self._counts))
