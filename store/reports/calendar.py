"""Days and weeks as the shop counts them: by the calendar of Berlin, weeks from Monday to Monday."""

from __future__ import annotations

import toa

ZONE = "Europe/Berlin"
_MIDNIGHT, _MONDAY = "0 0 * * *", "0 0 * * mon"
_DAY_MS = 86_400_000


def week_before(moment: int) -> tuple[str, int, int]:
    """The last full week at a moment (epoch ms): its name, its first moment, and the first one after it."""
    begins, ends = _last_between(_MONDAY, moment, moment - 16 * _DAY_MS)
    return toa.period("week", begins, zone=ZONE), begins, ends


def day_before(moment: int) -> tuple[str, int, int]:
    """The last full day at a moment (epoch ms): its name, its first moment, and the first one after it."""
    begins, ends = _last_between(_MIDNIGHT, moment, moment - 3 * _DAY_MS)
    return toa.period("day", begins, zone=ZONE), begins, ends


def _last_between(expression: str, moment: int, start: int) -> tuple[int, int]:
    """The last two occurrences up to a moment; the search begins at `start`, early enough for three."""
    begins = ends = _after(expression, start)
    while (following := _after(expression, ends)) <= moment:
        begins, ends = ends, following
    return begins, ends


def _after(expression: str, moment: int) -> int:
    found = toa.next_occurrence(expression, ZONE, after=moment)
    assert found is not None  # there is a midnight every day and a Monday every week
    return found
