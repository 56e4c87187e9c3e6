"""Calendar recurrence: the moments of a cron expression in a time zone, right at every clock change.

The expression is stepped over naive local time (`toa.core.cron`); the zone rule is ours (`toa.core.stretch`):
here both are joined over the changes of a zone (`toa.core.zones`). Nothing walks over the ticks in between:
the cost of the next tick is the same a second and a year after the last one.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import get_args

from toa.core.cron import parse_cron
from toa.core.moments import check_moment
from toa.core.stretch import Fold, Gap, Look, Stretch
from toa.core.zones import Change, check_zone, first_change, last_change, offset_at
from toa.exceptions import InvalidSchedule

# How long a change is felt: no zone was ever set by more than a day at once.
_REACH_S = 2 * 86_400
# The parser looks up to fifty years ahead and back, which must stay inside the calendar.
_EARLIEST = int(datetime(100, 1, 1, tzinfo=UTC).timestamp())
_LATEST = int(datetime(9900, 1, 1, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """The ticks of a span of time: the first and the last of them in epoch ms, and how many there are."""

    first: int
    last: int
    count: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron expression in a time zone of the tz database.

    `expression` has 5 fields, or 6 with leading seconds; see `toa.core.cron.parse_cron`. An hour field of `*`
    or `*/k` follows real time through every change of the clocks. Other hours are fixed: one in a gap ticks
    by `gap`, at its `end` (several in one gap are one tick), by `shift` as long after the change as it lay
    after the gap's start, or not at all (`skip`); one that the clocks show twice ticks the `first` time, or,
    with fold `both`, both times.

    Moments are whole epoch milliseconds. Raises InvalidSchedule or InvalidZone for what cannot be read or
    never comes due.

    >>> Schedule("30 2 * * *", "America/New_York").next_after(1_772_928_000_000)  # 8 March 2026, 00:00 UTC
    1772953200000
    """

    expression: str
    zone: str
    _: KW_ONLY
    gap: Gap = "end"
    fold: Fold = "first"

    def __post_init__(self) -> None:
        parse_cron(self.expression)
        check_zone(self.zone)
        for name, value, allowed in (("gap", self.gap, Gap), ("fold", self.fold, Fold)):
            if value not in get_args(allowed):
                raise InvalidSchedule(f"{name}: {value!r} is no rule", hint=f"one of {', '.join(get_args(allowed))}")

    def next_after(self, after_ms: int) -> int | None:
        """The first tick strictly after a moment: the later of cursor and now. None past the year 9900."""
        at = max(check_moment(after_ms, "after") // 1000 + 1, _EARLIEST)
        if at >= _LATEST:
            return None
        stretch = self._stretch_at(at)
        while True:
            tick = stretch.first_from(at)
            change = first_change(self.zone, at, tick)
            if change is None:
                return tick * 1000 if tick < _LATEST else None
            at, stretch = change.at, self._after(change, stretch.look)

    def previous_before(self, before_ms: int) -> int | None:
        """The last tick strictly before a moment. None before the year 100."""
        at = min(-(-check_moment(before_ms, "before") // 1000), _LATEST) - 1
        look = Look(parse_cron(self.expression))
        while at >= _EARLIEST:
            offset = offset_at(self.zone, at)
            plain = look.last_until(at + offset) - offset
            # Without a change since then, and none shortly before that could hide it, that is the tick.
            change = last_change(self.zone, plain - _REACH_S, at)
            if change is None:
                return plain * 1000 if plain >= _EARLIEST else None
            tick = self._after(change, look).last_until(at)
            if tick is not None:
                return tick * 1000
            at = change.at - 1
        return None

    def occurrences(self, after_ms: int, until_ms: int, limit: int) -> list[int]:
        """The first `limit` ticks after one moment and up to and including another, earliest first."""
        found: list[int] = []
        tick = self.next_after(after_ms)
        while tick is not None and tick <= until_ms and len(found) < limit:
            found.append(tick)
            tick = self.next_after(tick)
        return found

    def latest(self, after_ms: int, until_ms: int, limit: int) -> list[int]:
        """The last `limit` ticks after one moment and up to and including another, earliest first."""
        found: list[int] = []
        tick = self.previous_before(until_ms + 1)
        while tick is not None and tick > after_ms and len(found) < limit:
            found.append(tick)
            tick = self.previous_before(tick)
        return found[::-1]

    def missed(self, after_ms: int, until_ms: int) -> Missed | None:
        """The ticks after one moment and at or before another, in one answer; None when there are none.

        First and last are found by a jump. The count is exact, by arithmetic over the days between: no tick
        is walked over, and ten years of a schedule that ticks each second take a few milliseconds at most.
        """
        first = self.next_after(after_ms)
        if first is None or first > until_ms:
            return None
        last = self.previous_before(until_ms + 1)
        assert last is not None  # the first one is at or before it
        return Missed(first=first, last=last, count=self._count(first // 1000, last // 1000 + 1))

    def _count(self, start: int, stop: int) -> int:
        total = 0
        stretch = self._stretch_at(start)
        while start < stop:
            change = first_change(self.zone, start, stop - 1)
            end = stop if change is None else change.at
            total += stretch.count(start, end)
            if change is not None:
                stretch = self._after(change, stretch.look)
            start = end
        return total

    def _stretch_at(self, at: int) -> Stretch:
        """The stretch that a moment lies in. A change long before it is felt no more, and stands as none."""
        change = last_change(self.zone, at - _REACH_S, at)
        if change is None:
            offset = offset_at(self.zone, at)
            change = Change(at=at - _REACH_S, before=offset, after=offset)
        return self._after(change, Look(parse_cron(self.expression)))

    def _after(self, change: Change, look: Look) -> Stretch:
        return Stretch(cron=parse_cron(self.expression), look=look, change=change, gap=self.gap, fold=self.fold)


def next_occurrence(expression: str, zone: str, *, after: int, gap: Gap = "end", fold: Fold = "first") -> int | None:
    """The first moment strictly after `after` that a cron expression names in a time zone, both in epoch ms.

    Pure: the same arguments give the same moment everywhere, so a transition can set a deadline from a
    calendar of its own row. Arguments and errors are those of `Schedule`; None past the year 9900.

    >>> next_occurrence("0 9 * * *", "Asia/Tokyo", after=1_772_928_000_000)
    1773014400000
    """
    return Schedule(expression, zone, gap=gap, fold=fold).next_after(after)
