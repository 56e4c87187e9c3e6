"""Paying and giving up: which state allows what, and what is due afterwards."""

from __future__ import annotations

import pytest

import toa
from tests.orders.placing import configured, fill, order, place
from toa import Error
from toa.models import Delay, History


@pytest.fixture(autouse=True)
def tea(toa_clock):
    """Enough goods: no order ends as OUT_OF_STOCK by itself."""
    fill("tea", 100)


def test_a_paid_order_has_nothing_due(toa_clock):
    identity = place("A-1")

    assert toa.call("store.orders.approve", id=identity) is None
    toa_clock.advance("61m")

    paid = order(identity)
    assert (paid.status, paid.pay_by, paid.VERSION) == ("approved", None, 2)


def test_a_paid_order_takes_its_alarm_back(toa_clock):
    with configured(expiry="alarm"):
        identity = place("A-1")
        toa.call("store.orders.approve", id=identity)

    assert not Delay.objects.filter(endpoint="store.orders.cancel").exists()
    toa_clock.advance("61m")
    assert order(identity).status == "approved"
    assert outcomes("delay") == [("cancelled", "")]


def test_an_unpaid_order_is_cancelled_by_its_alarm_at_the_moment(toa_clock):
    with configured(expiry="alarm", window="1h"):
        identity = place("A-1")

    toa_clock.advance(3_599_999)
    assert order(identity).status == "pending"
    toa_clock.advance(1)
    cancelled = order(identity)
    assert (cancelled.status, cancelled.reason, cancelled.alarm, cancelled.VERSION) == ("cancelled", "EXPIRED", None, 2)
    assert outcomes("delay") == [("made", "")]


def test_an_order_given_up_by_a_person_takes_its_alarm_back(toa_clock):
    with configured(expiry="alarm"):
        identity = place("A-1")
        toa.call("store.orders.cancel", {"reason": "CHANGED_MIND"}, id=identity)
        toa_clock.advance("61m")

    assert order(identity).reason == "CHANGED_MIND"
    assert outcomes("delay") == [("cancelled", "")]


def test_an_alarm_that_comes_after_an_early_expiry_is_refused(toa_clock):
    with configured(expiry="alarm"):
        identity = place("A-1")
        toa.call("store.orders.cancel", {"reason": "EXPIRED"}, id=identity)
        toa_clock.advance("61m")

    assert order(identity).VERSION == 2
    assert outcomes("delay") == [("refused", "NOT_PENDING")]


@pytest.mark.parametrize(
    ("before", "call", "after"),
    [
        ("approved", ("approve", None), None),
        ("approved", ("cancel", "EXPIRED"), None),
        ("approved", ("cancel", "OUT_OF_STOCK"), ("cancelled", "OUT_OF_STOCK")),
        ("cancelled", ("approve", None), None),
        ("cancelled", ("cancel", "EXPIRED"), None),
        ("cancelled", ("cancel", "OUT_OF_STOCK"), None),
    ],
)
def test_what_a_state_allows(toa_clock, before, call, after):
    identity = place("A-1")
    if before == "approved":
        toa.call("store.orders.approve", id=identity)
    else:
        toa.call("store.orders.cancel", {"reason": "CHANGED_MIND"}, id=identity)
    untouched = order(identity)

    operation, reason = call
    reply = toa.call(f"store.orders.{operation}", {"reason": reason} if reason else None, id=identity)

    if after is None:
        assert reply == Error("NOT_PENDING", status=before)
        assert order(identity) == untouched
    else:
        assert reply is None
        assert (order(identity).status, order(identity).reason) == after


def outcomes(source: str) -> list[tuple[str, str]]:
    return list(History.objects.filter(source=source).values_list("outcome", "code"))
