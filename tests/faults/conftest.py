"""Fixtures of the tests of faults."""

from tests.cadence.conftest import calendar, only_deadlines

__all__ = ["calendar", "only_deadlines"]
