"""Clocks: the protocol every layer asks for the time, and the one that tests set by hand.

A moment is a whole number of epoch milliseconds, everywhere.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

LEAST = -62_135_596_800_000
"""The first moment of the year 1, in epoch ms."""
GREATEST = 253_402_300_799_999
"""The last moment of the year 9999, in epoch ms."""


def to_datetime(moment: int) -> datetime:
    """An aware UTC datetime of the moment; raises OverflowError outside the years 1 to 9999."""
    return EPOCH + timedelta(milliseconds=moment)


def read_datetime(text: str) -> datetime:
    """The datetime that RFC 3339 text spells, small `t` and `z` included, which Python alone does not read.

    Raises ValueError for anything that is no date-time.
    """
    return datetime.fromisoformat(text.upper())


def to_moment(value: datetime) -> int:
    """The moment of an aware datetime, in epoch ms, cut to whole milliseconds."""
    return (value - EPOCH) // MILLISECOND


class Clock(Protocol):
    """Tells the time that decides what is due."""

    def now(self) -> int:
        """The present moment in epoch ms."""
        ...

    def expression(self) -> str:
        """The same as a SQL expression of type timestamptz, stable within a statement, so that an index serves it."""
        ...


class ManualClock:
    """A clock that stands still until it is told to move. For tests and for rehearsals."""

    def __init__(self, now: int) -> None:
        self._now = now
        self._lock = threading.Lock()

    def now(self) -> int:
        return self._now

    def expression(self) -> str:
        return f"'{to_datetime(self._now).isoformat()}'::timestamptz"

    def set(self, moment: int) -> None:
        """Put the clock to a moment in epoch ms, earlier ones included."""
        with self._lock:
            self._now = moment

    def advance(self, duration: int) -> int:
        """Move on by a duration in ms and return the new moment; raises ValueError for a negative one."""
        if duration < 0:
            raise ValueError(f"a clock advances by 0 ms or more, not by {duration} ms")
        with self._lock:
            self._now += duration
            return self._now
