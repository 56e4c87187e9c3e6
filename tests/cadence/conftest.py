"""Fixtures of the tests of the cadence."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from tests.cadence.calendar import Calendar
from tests.components.almanacs.operations import exact, note
from tests.components.beacons.operations import ping
from tests.components.claims.operations import at_a
from tests.components.tallies.operations import report
from toa.cadence import serving
from toa.cadence.calls import suspects
from toa.core.clock import to_datetime
from toa.models import Pulse, Schedule

NODES = 10


@pytest.fixture
def nodes(toa_clock):
    """Threads with connections of their own, as processes have."""
    with ThreadPoolExecutor(max_workers=NODES) as pool:
        yield pool
        together = Barrier(NODES)
        list(pool.map(lambda _: (together.wait(30), connections.close_all()), range(NODES)))


@pytest.fixture
def nothing_else(toa_clock):
    """No pulse and no schedule comes due beside what the test arms."""
    report.CALLS.clear()
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))


@pytest.fixture
def only_deadlines(toa_clock):
    """No pulse comes due beside the deadlines of the test."""
    at_a.TRIES.clear()
    Pulse.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))


@pytest.fixture
def only_ping(toa_clock):
    """One pulse alone: the others are paused."""
    ping.CALLS.clear()
    ping.DURING.clear()
    Pulse.objects.exclude(endpoint="components.beacons.ping").update(wake_at=None, paused_at=to_datetime(toa_clock.now))


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
