"""Checks that a value is a moment: whole epoch milliseconds, inside the calendar."""

from __future__ import annotations

from toa.core.clock import GREATEST, LEAST
from toa.core.duration import shown_number
from toa.exceptions import InvalidMoment


def check_moment(value: int, name: str = "moment") -> int:
    """The moment itself, in epoch ms; `name` is what a message calls it.

    Raises InvalidMoment for anything but a whole number, and for one outside the years 1 to 9999.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidMoment(f"{name}: a whole number of epoch milliseconds is needed, not {type(value).__name__}")
    if not LEAST <= value <= GREATEST:
        raise InvalidMoment(f"{name}: {shown_number(value)} ms is outside the years 1 to 9999")
    return value
