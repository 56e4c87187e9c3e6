"""A cron expression over naive local time: read, stepped and counted without any zone.

croniter steps; what an expression means is decided here, so that its looseness and its changes of mind stay
outside: it is handed plain lists of numbers and a local time that knows no zone. Local times are whole
seconds since 1970-01-01 00:00 on the wall clock.
"""

from __future__ import annotations

import copy
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from croniter import croniter

from toa.core.cron_field import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, Field, Kind, read_field
from toa.exceptions import InvalidSchedule

_DAY_S = 86_400
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_MAX_LENGTH = 1000
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """What an expression names. `either_day`: the day of month or the day of week is enough, not both.

    `fixed`: it names hours, so a change of the clocks may neither lose nor double it. Otherwise its hour
    field is `*` or `*/k` and it follows real time.
    """

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    either_day: bool
    fixed: bool
    _steps: croniter = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        any_date = self.either_day and (len(self.days) == 31 or len(self.weekdays) == 7)
        fields = (
            _written(self.seconds, 60),
            _written(self.minutes, 60),
            _written(self.hours, 24),
            "*" if any_date else _written(self.days, 31),
            _written(self.months, 12),
            "*" if any_date else _written(self.weekdays, 7),
        )
        steps = croniter(" ".join(fields), 0.0, second_at_beginning=True, day_or=self.either_day)
        object.__setattr__(self, "_steps", steps)

    def first_from(self, local: int) -> int:
        """The first local time at or after another that the expression names. Always within fifty years."""
        # A copy, as croniter keeps its position in itself and threads share this object.
        return int(copy.copy(self._steps).get_next(float, start_time=float(local - 1)))

    def last_until(self, local: int) -> int:
        """The last local time at or before another that the expression names. Always within fifty years."""
        return int(copy.copy(self._steps).get_prev(float, start_time=float(local + 1)))

    def names(self, local: int) -> bool:
        """Whether the expression names this very local time."""
        day, second = divmod(local, _DAY_S)
        hour, rest = divmod(second, 3600)
        minute, second = divmod(rest, 60)
        return second in self.seconds and minute in self.minutes and hour in self.hours and self._names_day(day)

    def count(self, start: int, stop: int) -> int:
        """How many local times from `start` up to, not including, `stop` the expression names.

        Exact, by arithmetic: its cost grows with the days between, not with the times counted.
        """
        if stop <= start:
            return 0
        first_day, start_second = divmod(start, _DAY_S)
        last_day, stop_second = divmod(stop, _DAY_S)
        total = self._days_between(first_day, last_day) * self._times_before(_DAY_S)
        if self._names_day(first_day):
            total -= self._times_before(start_second)
        if self._names_day(last_day):
            total += self._times_before(stop_second)
        return total

    def _days_between(self, start: int, stop: int) -> int:
        every_month = len(self.months) == 12
        full_days, full_weekdays = len(self.days) == 31, len(self.weekdays) == 7
        every_date = (full_days or full_weekdays) if self.either_day else (full_days and full_weekdays)
        if every_month and every_date:
            return stop - start
        return sum(map(self._names_day, range(start, stop)))

    def _names_day(self, day: int) -> bool:
        shown = date.fromordinal(_EPOCH_ORDINAL + day)
        if shown.month not in self.months:
            return False
        by_date, by_weekday = shown.day in self.days, shown.isoweekday() % 7 in self.weekdays
        return (by_date or by_weekday) if self.either_day else (by_date and by_weekday)

    def _times_before(self, second: int) -> int:
        """How many times of a day come before this second of it."""
        hour, rest = divmod(second, 3600)
        minute, second = divmod(rest, 60)
        total = bisect_left(self.hours, hour) * len(self.minutes) * len(self.seconds)
        if hour in self.hours:
            total += bisect_left(self.minutes, minute) * len(self.seconds)
            if minute in self.minutes:
                total += bisect_left(self.seconds, second)
        return total


def parse_cron(expression: str) -> Cron:
    """Read an expression of 5 fields, or of 6 with leading seconds, strictly.

    Minute 0-59, hour 0-23, day of month 1-31, month 1-12 or jan-dec, day of week 0-7 or sun-sat, 0 and 7 both
    Sunday. As in cron, a day is due when the day of month or the day of week names it; when either field
    starts with `*`, both must.

    Raises InvalidSchedule, naming the field, for anything looser, and for an expression that never comes due.
    """
    if not isinstance(expression, str):
        raise InvalidSchedule(f"a schedule is text, not {type(expression).__name__}", hint="such as '0 9 * * mon'")
    return _parse(expression)


@lru_cache(maxsize=4096)
def _parse(expression: str) -> Cron:
    texts = _split(expression)
    leading = read_field(SECOND, texts.pop(0)) if len(texts) == 6 else Field(values=(0,), star=False)
    kinds: tuple[Kind, ...] = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)
    minute, hour, day, month, weekday = map(read_field, kinds, texts)
    either_day = not (day.star or weekday.star)
    # With either_day the day of week alone brings it due.
    if not either_day and day.values[0] > max(_LONGEST_MONTHS[number - 1] for number in month.values):
        raise InvalidSchedule(
            f"day of month field {texts[2]!r}: it never comes due, no month of {texts[3]!r} has that day"
        )
    return Cron(
        seconds=leading.values,
        minutes=minute.values,
        hours=hour.values,
        days=day.values,
        months=month.values,
        weekdays=weekday.values,
        either_day=either_day,
        fixed=not hour.star,
    )


def _split(expression: str) -> list[str]:
    if len(expression) > _MAX_LENGTH:
        raise InvalidSchedule(f"a schedule has at most {_MAX_LENGTH} characters, not {len(expression)}")
    text = expression.strip(" \t\r\n")
    if not text:
        raise InvalidSchedule("the schedule is empty", hint="such as '0 9 * * mon'")
    if text.startswith("@"):
        written = _ALIASES.get(text.lower())
        raise InvalidSchedule(f"{text[:20]!r}: names with @ are not read", hint=f"write {written!r}" if written else "")
    texts = re.split(r"[ \t]+", text)
    if len(texts) not in (5, 6):
        raise InvalidSchedule(
            f"a schedule has 5 fields, or 6 with leading seconds, not {len(texts)}",
            hint="minute hour day-of-month month day-of-week",
        )
    return texts


def _written(values: tuple[int, ...], size: int) -> str:
    return "*" if len(values) == size else ",".join(map(str, values))
