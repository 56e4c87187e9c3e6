"""Placing orders: the limit, the once key, and what will come due."""

from __future__ import annotations

from decimal import Decimal

import pytest

import toa
from store.orders.models import Order
from tests.orders.placing import configured, order, place
from toa import Conflict, Error, InvalidInput
from toa.exceptions import OnceMismatch
from toa.models import Delay

HOUR = 3_600_000


def test_an_order_is_pending_and_to_be_paid_within_the_window(toa_clock):
    placed = order(place("A-1", quantity=3, total="12.50"))

    assert (placed.status, placed.quantity, placed.total) == ("pending", 3, Decimal("12.50"))
    assert (placed.pay_by, placed.alarm) == (toa_clock.now + HOUR, None)
    assert not Delay.objects.exists()


def test_under_alarm_the_cancellation_is_armed_in_place_of_the_moment(toa_clock):
    with configured(expiry="alarm", window="10m"):
        placed = order(place("A-1"))

    alarm = Delay.objects.get(endpoint="store.orders.cancel")
    assert (placed.pay_by, placed.alarm) == (None, alarm.id.hex)
    assert alarm.request == {"query": {"id": placed.id}, "input": {"reason": "EXPIRED"}}
    assert int(alarm.due_at.timestamp() * 1000) == toa_clock.now + 600_000


def test_a_total_over_the_limit_is_refused_and_nothing_is_left(toa_clock):
    reply = toa.call("store.orders.create", request("A-1", total="10000.01"), once="A-1")

    assert reply == Error("LIMIT_EXCEEDED", total="10000.01", limit=10000)
    assert not Order.objects.exists()
    assert toa.call("store.orders.create", request("A-1", total="10000.00"), once="A-1")


def test_the_reference_is_the_once_key_and_stays_unique_after_it_is_forgotten(toa_clock):
    first = toa.call("store.orders.create", request("A-1"), once="A-1")

    assert toa.call("store.orders.create", request("A-1"), once="A-1") == first
    with pytest.raises(OnceMismatch):
        toa.call("store.orders.create", request("A-1", total="11.00"), once="A-1")

    toa_clock.advance("2h")
    with pytest.raises(Conflict, match="reference"):
        toa.call("store.orders.create", request("A-1"), once="A-1")
    assert Order.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"quantity": 0}, "/quantity"),
        ({"quantity": -3}, "/quantity"),
        ({"quantity": "3"}, "/quantity"),
        ({"total": 10.5}, "/total"),
        ({"total": "-0.01"}, "/total"),
        ({"total": "1.005"}, "/total"),
        ({"reference": ""}, "/reference"),
        ({"customer": "x" * 65}, "/customer"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_an_unfit_order_is_refused_with_its_place(toa_clock, change, pointer):
    with pytest.raises(InvalidInput) as refusal:
        toa.call("store.orders.create", {**request("A-1"), **change})

    assert [found for found, _ in refusal.value.problems] == [pointer]
    assert not Order.objects.exists()


def request(reference: str, **change: object) -> dict[str, object]:
    return {"reference": reference, "customer": "anna", "product": "tea", "quantity": 1, "total": "10.00", **change}
