"""Fixtures of the tests of faults."""

from tests.cadence.conftest import calendar

__all__ = ["calendar"]
