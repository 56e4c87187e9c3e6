"""Weeks as the shop counts them: from Monday to Monday, by the calendar of Berlin."""

from __future__ import annotations

import toa

ZONE = "Europe/Berlin"
_MONDAY = "0 0 * * mon"
_DAY_MS = 86_400_000


def week_before(moment: int) -> tuple[str, int, int]:
    """The last full week at a moment (epoch ms): its name, its first moment, and the first one after it."""
    begins = ends = _monday_after(moment - 16 * _DAY_MS)
    while (following := _monday_after(ends)) <= moment:
        begins, ends = ends, following
    return toa.period("week", begins, zone=ZONE), begins, ends


def _monday_after(moment: int) -> int:
    found = toa.next_occurrence(_MONDAY, ZONE, after=moment)
    assert found is not None  # there is a Monday every week
    return found
