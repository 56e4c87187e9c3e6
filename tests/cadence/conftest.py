"""Fixtures of the tests of the cadence."""

import pytest

from tests.cadence.calendar import Calendar
from tests.components.almanacs.operations import exact, note


@pytest.fixture
def calendar(toa_clock, settings):
    """Schedules of the test component, declared by the test. None is in force at first."""
    note.CALLS.clear()
    note.DURING.clear()
    exact.CALLS.clear()
    made = Calendar(settings, toa_clock)
    made.declare()
    return made
