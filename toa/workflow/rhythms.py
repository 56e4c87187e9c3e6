"""What a watch follows: an interval with a phase, or a cron expression in a time zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from toa.core.clock import GREATEST
from toa.core.duration import parse_duration
from toa.core.recurrence import Schedule
from toa.exceptions import InvalidDuration


class Rhythm(Protocol):
    """Occurrences. Moments are epoch ms."""

    def next_after(self, moment: int, anchor: int) -> int | None:
        """The first occurrence strictly after a moment, counted from an anchor; null where there is none any more."""
        ...


@dataclass(frozen=True, slots=True)
class Interval:
    """Occurrences at a fixed distance, the first one interval after the anchor."""

    ms: int

    def next_after(self, moment: int, anchor: int) -> int | None:
        following = anchor + ((moment - anchor) // self.ms + 1) * self.ms
        return following if following <= GREATEST else None


@dataclass(frozen=True, slots=True)
class Cron:
    """Occurrences of the calendar; see `toa.core.recurrence.Schedule`."""

    schedule: Schedule

    def next_after(self, moment: int, anchor: int) -> int | None:
        return self.schedule.next_after(moment)


def interval(duration: int | str) -> Interval:
    """Occurrences `duration` apart: ms, or text ("25ms", "1h").

    Raises InvalidDuration for anything below 1 ms, and for what is no duration: a float, NaN, more than a hundred
    years.
    """
    ms = parse_duration(duration)
    if ms < 1:
        raise InvalidDuration("an interval is 1 ms or longer")
    return Interval(ms)


def cron(expression: str, zone: str) -> Cron:
    """Occurrences of a cron expression in a time zone of the tz database: `cron("0 9 * * *", "Asia/Tokyo")`.

    Raises InvalidSchedule and InvalidZone.
    """
    return Cron(Schedule(expression, zone))
