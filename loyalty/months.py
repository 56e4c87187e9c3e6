"""The rule of the free deliveries, for those who read it and those who use it alike."""

from __future__ import annotations

import toa
from loyalty.types import Configuration, Entry, State


def current(entry: Entry | State, now: int, configuration: Configuration) -> tuple[str, int]:
    """The month of a moment (epoch ms), and how many deliveries are free in it.

    What is stored belongs to the month it was stored in; in any other month none was used yet.
    """
    month = toa.period("month", now, zone=configuration.zone)
    return month, entry.free if entry.month == month else configuration.free
