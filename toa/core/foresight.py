"""What the coming changes of the clocks will do to a schedule: for warnings before it happens.

Only schedules that name hours are touched. Those whose hour is `*` or `*/k` follow real time and need no rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from toa.core.clock import EPOCH
from toa.core.cron import Cron, parse_cron
from toa.core.recurrence import Schedule
from toa.core.zones import Change, first_change

TWO_YEARS_MS = 731 * 86_400_000
"""How far ahead a declared schedule is looked at, in ms."""

_REACH_MS = 2 * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A change of the clocks that falls on times which a schedule names."""

    schedule: Schedule
    change: Change
    named: int
    """The first local time concerned, in seconds since 1970-01-01 00:00 on the wall clock."""
    count: int
    """How many local times are concerned."""

    @property
    def is_gap(self) -> bool:
        """Whether the clocks go forward over them; else they are shown twice."""
        return self.change.after > self.change.before

    @property
    def at(self) -> int:
        """The moment of the change, epoch ms."""
        return self.change.at * 1000

    def explains(self, tick: int) -> bool:
        """Whether a tick (epoch ms) is where it is because of this change."""
        if self.is_gap:
            return tick == self.at if self.schedule.gap == "end" else self.at <= tick < self.at + self._size_ms
        begins = self.at - self._size_ms
        ends = self.at + self._size_ms if self.schedule.fold == "both" else self.at
        return begins <= tick < ends

    @property
    def sentence(self) -> str:
        """What will happen, with its date: "29 March 2026: 02:30 does not exist …"."""
        change, zone = self.change, self.schedule.zone
        day = _local(self.named)
        date = f"{day.day} {day:%B %Y}"
        times = f"{_local(self.named):%H:%M}" + (f" and {self.count - 1} more" if self.count > 1 else "")
        clocks = f"the clocks in {zone} go from {_hour(change, change.before)} to {_hour(change, change.after)}"
        if self.is_gap:
            exist = "does not exist" if self.count == 1 else "do not exist"
            return f"{date}: {times} {exist}, {clocks}; {self._made_up}"
        both = self.schedule.fold == "both"
        done = "it ticks both times (fold: both)" if both else "it ticks the first time alone (fold: first)"
        return f"{date}: {times} {'comes' if self.count == 1 else 'come'} twice, {clocks}; {done}"

    @property
    def _made_up(self) -> str:
        match self.schedule.gap:
            case "end":
                return f"it ticks once, at {_local(self.change.at + self.change.after):%H:%M} (gap: end)"
            case "shift":
                moved = self.named - self.change.before + self.change.after
                return f"it ticks at {_local(moved):%H:%M} (gap: shift)"
            case _:
                return "it does not tick (gap: skip)"

    @property
    def _size_ms(self) -> int:
        return abs(self.change.after - self.change.before) * 1000


def touched(schedule: Schedule, after: int, until: int) -> Iterator[Touched]:
    """The changes after one moment and up to another (epoch ms) that fall on times which the schedule names."""
    cron = parse_cron(schedule.expression)
    if not cron.fixed:
        return
    at = after // 1000
    while (change := first_change(schedule.zone, at, until // 1000)) is not None:
        at = change.at
        found = _named(cron, change)
        if found is not None:
            yield Touched(schedule=schedule, change=change, named=found[0], count=found[1])


def explanation(schedule: Schedule, tick: int) -> str:
    """Why a tick (epoch ms) is not simply where its expression says; empty where it is."""
    near = touched(schedule, tick - _REACH_MS, tick + _REACH_MS)
    return next((one.sentence for one in near if one.explains(tick)), "")


def _named(cron: Cron, change: Change) -> tuple[int, int] | None:
    """The first local time that the change skips or repeats and the expression names, and how many there are."""
    begins, ends = sorted((change.at + change.before, change.at + change.after))
    first = cron.first_from(begins)
    return (first, cron.count(begins, ends)) if first < ends else None


def _hour(change: Change, offset: int) -> str:
    return f"{_local(change.at + offset):%H:%M}"


def _local(second: int) -> datetime:
    return EPOCH + timedelta(seconds=second)
