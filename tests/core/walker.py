"""The slow oracle: walks the clock on the wall step by step and says when a schedule ticks.

It shares nothing with the product: it reads expressions by itself, knows zones from their files, and decides
from the sequence of times shown, not from a rule for each change.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from tests.core import tzif

_RANGES = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_EPOCH = date(1970, 1, 1)
_WARM_UP = 2 * 86_400


def read(field: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for item in field.split(","):
        span, _, step = item.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        values.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return frozenset(values)


@dataclass(frozen=True)
class Named:
    """The local times that an expression names, one by one."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    both_days: bool
    real_time: bool

    @classmethod
    def of(cls, expression: str) -> Named:
        fields = expression.split()
        if len(fields) == 5:
            fields.insert(0, "0")
        seconds, minutes, hours, days, months, weekdays = (
            read(text, *bounds) for text, bounds in zip(fields, _RANGES, strict=True)
        )
        both = fields[3][0] == "*" or fields[5][0] == "*"
        return cls(seconds, minutes, hours, days, months, weekdays, both_days=both, real_time=fields[2][0] == "*")

    def __contains__(self, local: int) -> bool:
        if local % 60 not in self.seconds or local // 60 % 60 not in self.minutes:
            return False
        return local // 3600 % 24 in self.hours and _day_fits(self, local // 86_400)


@cache
def _day_fits(named: Named, day: int) -> bool:
    shown = _EPOCH + timedelta(days=day)
    by_date, by_weekday = shown.day in named.days, shown.isoweekday() % 7 in named.weekdays
    fits = (by_date and by_weekday) if named.both_days else (by_date or by_weekday)
    return fits and shown.month in named.months


def walk(
    expression: str,
    zone: str,
    start: int,
    stop: int,
    *,
    gap: str = "end",
    fold: str = "first",
    step: int = 60,
) -> list[int]:
    """The ticks from `start` up to, not including, `stop`, in epoch seconds, by looking at every `step`.

    All bounds and the zone's changes between them must lie on whole steps.
    """
    named = Named.of(expression)
    begin = start - _WARM_UP
    offset = tzif.offset_at(zone, begin)
    ahead = [shift for shift in tzif.shifts_of(zone)[1] if begin < shift.at < stop]
    latest = begin + offset - step  # the latest time that the wall ever showed
    previous = latest
    ticks: set[int] = set()
    for moment in range(begin, stop, step):
        while ahead and ahead[0].at <= moment:
            offset = ahead.pop(0).after
        local = moment + offset
        if named.real_time:
            if local in named:
                ticks.add(moment)
        else:
            if local in named and (local > latest or fold == "both"):
                ticks.add(moment)
            for skipped in range(previous + step, local, step):
                if skipped in named and gap != "skip":
                    ticks.add(moment if gap == "end" else moment + skipped - previous - step)
        previous, latest = local, max(latest, local)
    return sorted(tick for tick in ticks if start <= tick < stop)
