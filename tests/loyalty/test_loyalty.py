"""Loyalty: three free deliveries a month, with nothing that runs at its end; points for paid orders."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

import toa
from loyalty.models import Membership
from tests.orders.placing import fill, place
from tests.together import together
from toa import Error
from toa.models import Delay, History, Once
from toa.runtime import bindings

OCTOBER = int(datetime(2026, 10, 31, 23, 30, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000


def deliver(customer: str, once: str | None = None):
    return Membership.operations.deliver(customer, once=once)


def allowance(customer: str) -> tuple[str, int]:
    seen = Membership.operations.allowance(customer)
    return seen.month, seen.free


def row(customer: str) -> tuple[str | None, int, int]:
    """Month and free deliveries as they are stored, and the VERSION."""
    return Membership.objects.values_list("month", "free", "version").get(id=customer)


def test_W3_in_a_new_month_the_allowance_reads_full_and_nothing_is_written(toa_clock):
    toa_clock.set(OCTOBER)
    for number in range(3):
        assert deliver("anna") == {"month": "2026-10", "free": 2 - number}
    assert deliver("anna") == Error("NONE_LEFT", month="2026-10")
    assert allowance("anna") == ("2026-10", 0)
    before = Membership.objects.values().get()

    toa_clock.set(OCTOBER + HOUR)
    with CaptureQueriesContext(connection) as queries:
        assert allowance("anna") == ("2026-11", 3)
    assert [query["sql"].split()[0] for query in queries] == ["SELECT"]
    assert Membership.objects.values().get() == before


def test_W3_the_first_use_of_a_new_month_stores_it_and_takes_one(toa_clock):
    toa_clock.set(OCTOBER)
    deliver("anna")
    assert row("anna") == ("2026-10", 2, 1)

    toa_clock.set(OCTOBER + HOUR)
    assert deliver("anna") == {"month": "2026-11", "free": 2}
    assert row("anna") == ("2026-11", 2, 2)
    assert allowance("anna") == ("2026-11", 2)


def test_W3_months_without_a_use_never_touch_the_row(toa_clock):
    toa_clock.set(OCTOBER)
    deliver("anna")
    before = Membership.objects.values().get()

    for month in range(1, 5):
        toa_clock.set(OCTOBER + month * 30 * 24 * HOUR)
        toa_clock.run_until_idle()
    assert not Delay.objects.exists()
    assert Membership.objects.values().get() == before
    assert allowance("anna") == ("2027-02", 3)


def test_W3_a_customer_who_was_never_written_has_the_full_allowance_and_no_row(toa_clock):
    toa_clock.set(OCTOBER)
    assert allowance("nobody") == ("2026-10", 3)
    assert not Membership.objects.exists()
    assert deliver("nobody") == {"month": "2026-10", "free": 2}
    assert row("nobody") == ("2026-10", 2, 1)


def test_the_month_begins_by_the_calendar_of_the_configured_zone(toa_clock):
    toa_clock.set(OCTOBER)
    with configured(zone="Asia/Tokyo"):
        assert allowance("anna") == ("2026-11", 3)
    with configured(free=1):
        assert deliver("anna") == {"month": "2026-10", "free": 0}
        assert deliver("anna") == Error("NONE_LEFT", month="2026-10")


def test_a_delivery_is_taken_once_for_a_key(toa_clock):
    toa_clock.set(OCTOBER)
    assert deliver("anna", "parcel-1") == deliver("anna", "parcel-1") == {"month": "2026-10", "free": 2}
    assert row("anna") == ("2026-10", 2, 1)


def test_ten_parcels_at_once_take_three_free_deliveries(transactional_db, toa_clock):
    toa_clock.set(OCTOBER)
    replies = together(10, lambda i: deliver("anna", f"parcel-{i}"))

    assert sorted(reply.free for reply in replies if not isinstance(reply, Error)) == [0, 1, 2]
    assert [reply.code for reply in replies if isinstance(reply, Error)] == ["NONE_LEFT"] * 7
    assert row("anna") == ("2026-10", 0, 3)
    assert Once.objects.count() == 3


def test_a_paid_order_earns_its_customer_a_point_for_each_whole_unit(toa_clock):
    fill("tea", 100)
    for number, total in enumerate(["499.99", "0.99", "1.00"]):
        toa.call("store.orders.approve", id=place(f"A-{number}", total=total))
    toa_clock.run_until_idle()

    member = Membership.objects.get()
    assert (member.id, member.points, member.tier) == ("anna", 500, "silver")
    assert History.objects.filter(endpoint="loyalty.earn", outcome="made").count() == 3
    assert allowance("anna")[1] == 3, "points have nothing to do with the month"


@pytest.mark.parametrize(("total", "tier"), [("499", "basic"), ("500", "silver"), ("1999", "silver"), ("2000", "gold")])
def test_points_decide_the_tier(toa_clock, total, tier):
    Membership.operations.earn("anna", total=total)
    assert Membership.objects.get().tier == tier


def test_an_order_that_is_never_paid_earns_nothing(toa_clock):
    fill("tea", 100)
    toa.call("store.orders.cancel", {"reason": "CHANGED_MIND"}, id=place("A-1"))
    toa_clock.run_until_idle()
    assert not Membership.objects.exists()


class configured(override_settings):
    """Put values in place of the configuration of loyalty."""

    def __init__(self, **values: object) -> None:
        super().__init__(TOA={**settings.TOA, "CONFIGURATION": {"loyalty": values}})

    def enable(self) -> None:
        super().enable()
        bindings.reset()

    def disable(self) -> None:
        super().disable()
        bindings.reset()
