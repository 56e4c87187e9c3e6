"""What the demo shows while it runs: a live table on a terminal, plain lines everywhere else."""

from __future__ import annotations

import statistics
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from shop.demo.watching import Happening, Standing

if TYPE_CHECKING:
    from rich.table import Table

ROWS = 14
"""Of the live table: the latest happenings."""
EVERY_S = 1.0
"""How often plain output sums up what was settled."""


class Screen(AbstractContextManager["Screen"], Protocol):
    """Shows what happens."""

    def say(self, sentence: str) -> None:
        """Something that the demo does, or finds."""
        ...

    def show(self, news: Sequence[Happening], standing: Standing | None) -> None:
        """What was settled since the last time, and how things stand."""
        ...


def screen() -> Screen:
    """The one that fits standard output."""
    return Live() if sys.stdout.isatty() else Lines()


class Lines:
    """A line for each thing that the demo does, and once a second a line for each kind of call that was settled."""

    def __init__(self) -> None:
        self._begun = self._summed_at = time.monotonic()
        self._waiting: list[Happening] = []

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._sum_up()

    def say(self, sentence: str) -> None:
        self._sum_up()
        self._print(sentence)

    def show(self, news: Sequence[Happening], standing: Standing | None) -> None:
        self._waiting += news
        if time.monotonic() - self._summed_at >= EVERY_S:
            self._sum_up()

    def _sum_up(self) -> None:
        self._summed_at = time.monotonic()
        groups: dict[tuple[str, str, str], list[Happening]] = {}
        for one in self._waiting:
            groups.setdefault((one.what, one.endpoint, one.did), []).append(one)
        self._waiting.clear()
        for (what, endpoint, did), group in sorted(groups.items()):
            first = min(group, key=lambda one: one.due)
            self._print(
                f"  {len(group):4} x {what:5} {endpoint:26} {did}; {_late(group)}"
                f"first {first.whom}, due {_clock(first.due)}"
            )

    def _print(self, text: str) -> None:
        print(f"{time.monotonic() - self._begun:5.1f} s  {text}", flush=True)


class Live:
    """The latest happenings as a table that is drawn again and again, with what the demo does above it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console(highlight=False)
        self._live = RichLive(console=self._console, auto_refresh=False, transient=True)
        self._begun = time.monotonic()
        self._latest: deque[Happening] = deque(maxlen=ROWS)

    def __enter__(self) -> Live:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def say(self, sentence: str) -> None:
        self._console.print(f"{time.monotonic() - self._begun:5.1f} s  {sentence}", markup=False)

    def show(self, news: Sequence[Happening], standing: Standing | None) -> None:
        from rich.console import Group

        self._latest.extend(news)
        self._live.update(Group(self._table(), _sum(standing)), refresh=True)

    def _table(self) -> Table:
        from rich.table import Table

        table = Table(expand=False)
        for title in ("due", "what came due", "whom", "late", "what it did"):
            table.add_column(title, justify="right" if title == "late" else "left", no_wrap=True)
        for one in self._latest:
            table.add_row(
                _clock(one.due),
                f"{one.what} {one.endpoint}",
                one.whom,
                f"{one.lateness_ms} ms",
                one.did,
                style=_style(one),
            )
        return table


def _late(group: Sequence[Happening]) -> str:
    if group[0].outcome not in ("made", "refused"):
        return ""
    lateness = [one.lateness_ms for one in group]
    return f"late by {statistics.median(lateness):.0f} ms, at most {max(lateness)} ms; "


def _style(one: Happening) -> str:
    if one.outcome == "refused":
        return "yellow"
    if one.outcome not in ("made", "cancelled"):
        return "red"
    return "cyan" if "cancelled" in one.did else ""


def _sum(standing: Standing | None) -> str:
    if standing is None:
        return ""
    return (
        f"{standing.orders} orders: {standing.pending} pending, {standing.approved} paid, {standing.expired} expired,"
        f" {standing.out_of_stock} out of stock; stored: {standing.delays} delays, {standing.deliveries} deliveries"
    )


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03}"
