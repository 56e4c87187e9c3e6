"""Testing work on the clock without waiting: a clock that tests set, and everything due run in time order."""

from toa.testing.clock import START, ClockMixin, TestClock

__all__ = ["START", "ClockMixin", "TestClock"]
