"""The life of an order as a process, with deadlines of its own."""

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import override_settings

import toa
from store.lifecycle.models import Process
from tests.orders.placing import fill, order, place, stock
from toa.cadence.explaining.gathering import explain
from toa.cadence.explaining.telling import tell
from toa.core.clock import to_datetime
from toa.models import Delay, Delivery, Failure, Pulse, Revision
from toa.runtime import bindings

pytestmark = pytest.mark.django_db

HOUR = 3_600_000
DAY = 24 * HOUR


def configured(expiry, **lifecycle):
    given = {"store.orders": {"expiry": expiry}, "store.lifecycle": lifecycle}
    return override_settings(TOA={**django_settings.TOA, "CONFIGURATION": given})


@pytest.fixture
def shop(toa_clock):
    """A shop with tea, whose orders each have a process."""
    with configured("process"):
        bindings.reset()
        fill("tea", 100)
        _without_pulses(toa_clock)
        yield toa_clock
    bindings.reset()


def _without_pulses(clock):
    Pulse.objects.update(wake_at=None, paused_at=to_datetime(clock.now))


@pytest.fixture
def placed(shop):
    """The id of an order whose process was begun."""
    identity = place("first", quantity=10)
    shop.run_until_idle()
    return identity


def process(identity):
    return Process.objects.get(id=identity)


def test_T1_a_new_order_begins_its_process_at_the_moment_it_was_placed(shop):
    start = shop.now
    identity = place("first", quantity=10)
    shop.set(start + 2 * HOUR)
    shop.run_until_idle()
    one = process(identity)
    assert (one.reference, one.payment_deadline, one.reminder) == (
        "first",
        to_datetime(start + 72 * HOUR),
        to_datetime(start + DAY),
    )
    assert (order(identity).pay_by, order(identity).alarm, Delay.objects.count()) == (None, None, 0)


def test_an_unpaid_order_is_reminded_of_daily_and_cancelled_after_three_days(placed, shop):
    shop.advance(72 * HOUR - 1)
    assert (process(placed).reminders, order(placed).status) == (2, "pending")
    shop.advance(1)
    assert (order(placed).status, order(placed).reason, stock("tea").available) == ("cancelled", "EXPIRED", 100)
    one = process(placed)
    assert (one.clock_state, one.payment_deadline, one.reminder) == ("closed", None, None)
    shop.advance("30d")
    assert process(placed).reminders == 2
    assert (Failure.objects.count(), Delivery.objects.count()) == (0, 0)


def test_T6_reminders_after_an_outage_keep_their_moments(placed, shop):
    start = shop.now
    shop.set(start + 2 * DAY + HOUR)
    shop.run_until_idle()
    moments = Revision.objects.filter(entity=placed, reached="reminder").order_by("version")
    assert [one.moment for one in moments] == [to_datetime(start + DAY), to_datetime(start + 2 * DAY)]
    assert process(placed).reminder == to_datetime(start + 3 * DAY)


def test_a_payment_clears_the_deadline_and_the_reminders(placed, shop):
    shop.advance("30h")
    toa.call("store.orders.approve", id=placed)
    shop.advance("5d")
    assert (order(placed).status, process(placed).reminders) == ("approved", 1)
    text = "\n".join(tell(explain("store.lifecycle", placed)))
    assert "payment_deadline is not set: nothing is due; cleared by store.lifecycle.settle" in text
    assert f"an event of store.orders:{placed}, which store.orders.approve raised" in text


def test_T12_a_payment_just_before_the_deadline_wins_however_late_its_event_comes(placed, shop):
    shop.set(shop.now + 72 * HOUR - 1)
    toa.call("store.orders.approve", id=placed)
    shop.set(shop.now + HOUR)
    shop.run_until_idle()
    assert order(placed).status == "approved"
    assert process(placed).clock_state is None


def test_a_packed_order_closes_its_process_and_its_goods_are_gone(placed, shop):
    toa.call("store.orders.approve", id=placed)
    toa.call("store.orders.pack", id=placed)
    shop.run_until_idle()
    assert process(placed).clock_state == "closed"
    assert (stock("tea").available, dict(stock("tea").reserved)) == (90, {})
    shop.advance("8d")
    assert order(placed).status == "packed"


def test_T9_a_paid_order_that_is_not_packed_in_a_week_is_given_up(placed, shop):
    toa.call("store.orders.approve", id=placed)
    shop.advance("7d")
    assert (order(placed).status, order(placed).reason) == ("cancelled", "TIMEOUT")
    assert (process(placed).clock_state, stock("tea").available) == ("closed", 100)


def test_an_order_that_is_cancelled_closes_its_process(placed, shop):
    toa.call("store.orders.cancel", {"reason": "CUSTOMER"}, id=placed)
    shop.run_until_idle()
    assert process(placed).clock_state == "closed"


def test_an_order_without_stock_is_cancelled_and_its_process_with_it(shop):
    identity = place("large", quantity=1_000)
    shop.run_until_idle()
    assert (order(identity).reason, process(identity).clock_state) == ("OUT_OF_STOCK", "closed")


def test_the_windows_are_configured(toa_clock):
    with configured("process", payment="5s", every="2s"):
        bindings.reset()
        fill("tea", 10)
        _without_pulses(toa_clock)
        identity = place("first")
        toa_clock.advance("5s")
        assert (order(identity).reason, process(identity).reminders) == ("EXPIRED", 2)
    bindings.reset()


@pytest.mark.parametrize("expiry", ["sweep", "alarm"])
@pytest.mark.parametrize("end", ["pack", "cancel", "expire"])
def test_orders_whose_time_is_kept_otherwise_have_no_process(toa_clock, expiry, end):
    with configured(expiry):
        bindings.reset()
        fill("tea", 10)
        identity = place("first")
        toa_clock.run_until_idle()
        if end != "expire":
            toa.call("store.orders.approve", id=identity)
        if end == "pack":
            toa.call("store.orders.pack", id=identity)
        elif end == "cancel":
            toa.call("store.orders.cancel", {"reason": "CUSTOMER"}, id=identity)
        toa_clock.advance("2h")
        assert order(identity).status == {"pack": "packed"}.get(end, "cancelled")
        assert not Process.objects.exists()
    bindings.reset()


@pytest.mark.parametrize("status", ["pending", "packed", "cancelled"])
def test_only_a_paid_order_is_packed(placed, shop, status):
    if status == "packed":
        toa.call("store.orders.approve", id=placed)
        toa.call("store.orders.pack", id=placed)
    elif status == "cancelled":
        toa.call("store.orders.cancel", {"reason": "CUSTOMER"}, id=placed)
    reply = toa.call("store.orders.pack", id=placed)
    assert (reply.code, order(placed).status) == ("NOT_APPROVED", status)


def test_explain_of_an_order_points_to_its_process(placed, shop):
    text = "\n".join(tell(explain("store.orders", placed)))
    assert f"store.lifecycle keeps an object of the same id: see toa explain store.lifecycle {placed}." in text


def test_the_admin_shows_processes_and_changes_none(placed, client):
    client.force_login(User.objects.create_superuser("ann"))
    listed = client.get("/admin/store_lifecycle/process/")
    assert (listed.status_code, b"first" in listed.content) == (200, True)
    assert client.get("/admin/store_lifecycle/process/add/").status_code == 403
