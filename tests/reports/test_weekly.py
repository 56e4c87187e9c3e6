"""The report of each week: due on Monday at nine in Berlin, and about the week before that moment."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

import toa
from store.orders.models import Order
from store.reports import figures
from store.reports.calendar import week_before
from store.reports.models import Report
from tests.orders.placing import fill, place
from toa.cadence.actions import operating
from toa.cadence.reports.standing import find
from toa.core.clock import to_datetime, to_moment
from toa.models import History, Pulse, Schedule

WEEKLY = "store.reports.weekly"
HOUR, DAY = 3_600_000, 86_400_000


def at(text: str) -> int:
    """Epoch ms of `2026-01-05 08:00`, in UTC."""
    return to_moment(datetime.fromisoformat(text).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("moment", "week", "begins", "ends"),
    [
        ("2026-01-05 08:00", "2026-W01", "2025-12-28 23:00", "2026-01-04 23:00"),
        ("2026-01-11 22:59", "2026-W01", "2025-12-28 23:00", "2026-01-04 23:00"),
        ("2026-01-11 23:00", "2026-W02", "2026-01-04 23:00", "2026-01-11 23:00"),
        # The clocks go forward on 29 March, and that week is an hour shorter.
        ("2026-03-30 07:00", "2026-W13", "2026-03-22 23:00", "2026-03-29 22:00"),
        ("2026-10-26 08:00", "2026-W43", "2026-10-18 22:00", "2026-10-25 23:00"),
    ],
)
def test_the_week_before_a_moment_by_the_calendar_of_berlin(moment, week, begins, ends):
    assert week_before(at(moment)) == (week, at(begins), at(ends))


@pytest.fixture
def orders(db, toa_clock):
    """Three orders of the second week, two paid and one cancelled, and one of the week after."""
    # No sweep disturbs them.
    Pulse.objects.update(wake_at=None)
    fill("tea", 100)
    for number, total in enumerate(("10.00", "0.10", "5.00")):
        identity = place(f"A-{number}", total=total)
        toa_clock.set(toa_clock.now + HOUR)
        if number == 2:
            toa.call("store.orders.cancel", {"reason": "STUCK"}, id=identity)
        else:
            toa.call("store.orders.approve", id=identity)
    toa_clock.run_until_idle()
    toa_clock.set(at("2026-01-12 00:00"))
    place("B-0", total="99.00")
    toa_clock.run_until_idle()


def reports():
    return {
        report.id: (report.placed, report.cancelled, report.total) for report in Report.objects.order_by("id").all()
    }


SECOND_WEEK = {"2026-W02": (3, 1, Decimal("10.10"))}


def test_the_report_is_made_on_monday_at_nine_in_berlin(orders, toa_clock):
    toa_clock.advance_to(at("2026-01-12 07:59"))
    assert reports() == {}
    toa_clock.advance_to(at("2026-01-12 08:00"))
    assert reports() == SECOND_WEEK
    report = Report.objects.get()
    assert (to_moment(report.begins), to_moment(report.ends)) == (at("2026-01-04 23:00"), at("2026-01-11 23:00"))
    assert to_moment(find(Schedule, WEEKLY).due_at) == at("2026-01-19 08:00")


def test_made_late_it_is_still_about_the_week_before_it_was_due(orders, toa_clock):
    toa_clock.set(at("2026-01-14 15:00"))
    toa_clock.run_until_idle()
    assert reports() == SECOND_WEEK
    line = History.objects.get(endpoint=WEEKLY)
    assert (to_moment(line.due_at), line.lateness_ms) == (at("2026-01-12 08:00"), 2 * DAY + 7 * HOUR)


def test_after_an_outage_of_weeks_each_has_its_report(orders, toa_clock):
    toa_clock.set(at("2026-02-02 12:00"))
    toa_clock.run_until_idle()
    nothing = (0, 0, Decimal("0.00"))
    assert reports() == {
        **SECOND_WEEK,
        "2026-W03": (1, 0, Decimal("99.00")),
        "2026-W04": nothing,
        "2026-W05": nothing,
    }


def test_a_report_made_again_takes_the_place_of_the_first(orders, toa_clock):
    toa_clock.advance_to(at("2026-01-12 08:00"))
    late = place("B-1", total="1.00")
    Order.objects.filter(id=late).update(created_at=to_datetime(at("2026-01-08 12:00")))
    assert operating.fire(find(Schedule, WEEKLY), "anna") == "fired"
    toa_clock.run_until_idle()
    assert reports() == {"2026-W02": (4, 1, Decimal("11.10"))}


def test_more_orders_than_a_page_are_all_counted(orders, toa_clock, monkeypatch):
    monkeypatch.setattr(figures, "PAGE", 2)
    toa_clock.advance_to(at("2026-01-12 08:00"))
    assert reports() == SECOND_WEEK
