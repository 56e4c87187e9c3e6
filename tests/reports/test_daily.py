"""The report of each day: a workflow on a watch, kept going by a pulse."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import toa
from store.reports.calendar import day_before
from store.reports.models import Report
from tests.orders.placing import fill, place
from toa.core.clock import to_moment
from toa.models import Pulse, Run

DAY = "store.reports.daily"


def at(text: str) -> int:
    """Epoch ms of `2026-01-05 08:00`, in UTC."""
    return to_moment(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("moment", "day", "begins", "ends"),
    [
        ("2026-01-05 05:00", "2026-01-04", "2026-01-03 23:00", "2026-01-04 23:00"),
        ("2026-01-05 22:59", "2026-01-04", "2026-01-03 23:00", "2026-01-04 23:00"),
        ("2026-01-05 23:00", "2026-01-05", "2026-01-04 23:00", "2026-01-05 23:00"),
        # 29 March has 23 hours, 25 October has 25.
        ("2026-03-30 04:00", "2026-03-29", "2026-03-28 23:00", "2026-03-29 22:00"),
        ("2026-10-26 05:00", "2026-10-25", "2026-10-24 22:00", "2026-10-25 23:00"),
    ],
)
def test_the_day_before_a_moment_by_the_calendar_of_berlin(moment, day, begins, ends):
    assert day_before(at(moment)) == (day, at(begins), at(ends))


def test_every_morning_the_day_before_is_reported_and_missed_mornings_once(db, toa_clock):
    Pulse.objects.exclude(endpoint=DAY).update(wake_at=None)
    toa_clock.set(at("2026-01-05 12:00"))
    fill("tea", 100)
    place("A-1", total="10.00")
    # The pulse begins the one run there is, and is not called again while it goes on.
    toa_clock.advance("10m")
    run = Run.objects.get(endpoint=DAY)
    Pulse.objects.update(wake_at=None)
    toa_clock.advance_to(at("2026-01-06 05:00"))
    report = Report.objects.get(id="2026-01-05")
    assert (report.placed, str(report.total)) == (1, "10.00")
    toa_clock.advance_to(at("2026-01-07 05:00"))
    assert [one.id for one in Report.objects.order_by("id")] == ["2026-01-05", "2026-01-06"]
    # Nothing runs for four days: one report, for the first morning that was missed; then the mornings go on.
    toa_clock.set(at("2026-01-11 12:00"))
    toa_clock.run_until_idle()
    toa_clock.advance_to(at("2026-01-12 05:00"))
    assert [one.id for one in Report.objects.order_by("id")][2:] == ["2026-01-07", "2026-01-11"]
    assert Run.objects.get(endpoint=DAY).id == run.id
    assert toa.call("store.reports.observe", id="2026-01-11").placed == 0
