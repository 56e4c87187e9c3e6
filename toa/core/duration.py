"""Durations: whole milliseconds, or text such as `72h`, `250ms`, `1d12h`.

Months and years are no durations: their length depends on the calendar. A calendar wish is a schedule.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from toa.exceptions import InvalidDuration

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
WEEK_MS = 7 * DAY_MS

MAX_DURATION_MS = 36_525 * DAY_MS
"""The longest duration that is accepted: a hundred years."""

# Largest first: the order in which the parts of a text must stand.
_UNITS = {"w": WEEK_MS, "d": DAY_MS, "h": HOUR_MS, "m": MINUTE_MS, "s": SECOND_MS, "ms": 1}
_RANK = {unit: rank for rank, unit in enumerate(_UNITS)}
_TEXT = re.compile(r"(?:[0-9]{1,19}[A-Za-z]+)+")
_PART = re.compile(r"([0-9]+)([A-Za-z]+)")
_EXAMPLES = "write whole numbers with units, largest first: 72h, 1d12h, 1h30m, 250ms"


def parse_duration(value: int | str) -> int:
    """The milliseconds of a duration.

    `value` is a whole number of milliseconds, or text of whole numbers, each with a unit out of w, d, h, m,
    s, ms, in that order and each at most once. Zero is a duration.

    Raises InvalidDuration for anything else: a float, a bool, a sign, text without a unit, more than a
    hundred years.

    >>> parse_duration("1d12h")
    129600000
    """
    if isinstance(value, str):
        return _within_bounds(_text_to_ms(value), value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _within_bounds(value, value)
    raise InvalidDuration(
        f"a duration is a whole number of milliseconds or text, not {type(value).__name__}", hint=_EXAMPLES
    )


def seconds_to_ms(value: int | float | str) -> int:
    """The milliseconds of a duration whose bare numbers are seconds, as in a manifest's `cadence`.

    Numbers may have fractions down to one millisecond: 0.25 is 250 ms. Text is read as by `parse_duration`,
    with its units. Raises InvalidDuration as that does, and for NaN, infinity and fractions of a millisecond.

    >>> seconds_to_ms(300), seconds_to_ms(0.1), seconds_to_ms("5m")
    (300000, 100, 300000)
    """
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidDuration(f"a number of seconds or text is needed, not {type(value).__name__}", hint=_EXAMPLES)
    # repr gives the digits that were written: 0.1 is exactly 100 ms, which binary arithmetic would miss.
    seconds = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    if not seconds.is_finite():
        raise InvalidDuration(f"{value} seconds is no duration")
    if abs(seconds) * SECOND_MS > MAX_DURATION_MS:
        return _within_bounds(MAX_DURATION_MS + 1 if seconds > 0 else -1, f"{shown_number(value)} s")
    milliseconds = seconds * SECOND_MS
    if milliseconds != milliseconds.to_integral_value():
        raise InvalidDuration(f"{value} s is not a whole number of milliseconds")
    return _within_bounds(int(milliseconds), f"{value} s")


def format_duration(milliseconds: int) -> str:
    """The canonical text of a duration in milliseconds, days the largest unit: `1d12h`, `250ms`, `0ms`.

    What it returns for zero and above reads back through `parse_duration` to the same number. A negative
    number, such as a skew, is shown with a leading minus sign, which `parse_duration` refuses.
    """
    if milliseconds == 0:
        return "0ms"
    parts = []
    rest = abs(milliseconds)
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(rest, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return ("-" if milliseconds < 0 else "") + "".join(parts)


@lru_cache(maxsize=1_024)
def shown_number(value: int | float) -> str:
    """A number as a message shows it. Python writes no integer of more than 4,300 digits, and nobody reads one."""
    return "a number of more than 20 digits" if isinstance(value, int) and abs(value) >= 10**20 else str(value)


def _text_to_ms(text: str) -> int:
    if not text:
        raise InvalidDuration("a duration cannot be empty", hint=_EXAMPLES)
    if not _TEXT.fullmatch(text):
        raise InvalidDuration(f"{_shown(text)} is no duration", hint=_EXAMPLES)
    total = 0
    last = -1
    for number, unit in _PART.findall(text):
        if unit not in _UNITS:
            raise InvalidDuration(
                f"{_shown(text)}: {_shown(unit)} is no unit",
                hint=f"the units are {', '.join(_UNITS)}; m is minutes",
            )
        if _RANK[unit] == last:
            raise InvalidDuration(f"{_shown(text)}: the unit {unit} stands twice", hint=_EXAMPLES)
        if _RANK[unit] < last:
            raise InvalidDuration(f"{_shown(text)}: {unit} stands after a smaller unit", hint=_EXAMPLES)
        last = _RANK[unit]
        total += int(number) * _UNITS[unit]
    return total


def _within_bounds(milliseconds: int, given: int | str) -> int:
    shown = f"{shown_number(given)} ms" if isinstance(given, int) else _shown(given)
    if milliseconds < 0:
        raise InvalidDuration(f"{shown} is negative")
    if milliseconds > MAX_DURATION_MS:
        raise InvalidDuration(f"{shown} is longer than {format_duration(MAX_DURATION_MS)} (a hundred years)")
    return milliseconds


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
