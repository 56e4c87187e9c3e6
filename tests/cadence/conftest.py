"""Fixtures of the tests of the cadence."""

import pytest

from tests.cadence.calendar import Calendar
from tests.components.almanacs.operations import exact, note
from toa.cadence import serving
from toa.cadence.calls import suspects


@pytest.fixture
def served(monkeypatch):
    """This process serves: it has a watermark, and each of its threads a docket."""
    monkeypatch.setattr(serving, "_serving", True)
    yield
    suspects.close()


@pytest.fixture
def calendar(toa_clock, settings):
    """Schedules of the test component, declared by the test. None is in force at first."""
    note.CALLS.clear()
    note.DURING.clear()
    exact.CALLS.clear()
    made = Calendar(settings, toa_clock)
    made.declare()
    return made
