"""The sweep over unpaid orders as code and as a declaration: the same orders, in the same order, with the same end."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from django.db import transaction

import toa
from fulfilment.stock.models import Stock
from store.orders.models import Order
from tests.orders.placing import fill, place
from toa.cadence.syncing import sync
from toa.models import History

CYCLE = 300_000
HOUR = 3_600_000
CANCEL, EXPIRE = "store.orders.cancel", "store.orders.expire"
DECLARED = {
    "cycle": 300,
    "query": {"criteria": "status==pending;pay_by<$now", "limit": 100, "sort": ["pay_by"]},
    "input": {"reason": "EXPIRED"},
}


class Undone(Exception):
    """Takes back what was done in a copy."""


@contextmanager
def copy_of_the_state():
    """What is done inside is done on a copy, which is thrown away."""
    try:
        with transaction.atomic():
            transaction.get_connection().atomic_blocks[-1]._from_testcase = True
            yield
            raise Undone
    except Undone:
        pass


def state():
    """Every column of every order and of the stock."""
    return list(Order.objects.order_by("id").values()), list(Stock.objects.order_by("id").values())


def order_of_cancellation():
    """The orders that were cancelled, in the order in which they were."""
    lines = History.objects.filter(endpoint="fulfilment.stock.release").order_by("call")
    return [line.cause["entity"] for line in lines]


@pytest.fixture
def orders(db, toa_clock):
    """250 that are overdue, and among them paid ones, one that cannot be cancelled, and some that have time."""
    toa_clock.set(toa_clock.now // CYCLE * CYCLE + 1)
    fill("tea", 2_000)
    placed = []
    for number in range(250):
        placed.append(place(f"A-{number:03}", quantity=2))
        toa_clock.set(toa_clock.now + 10)
    toa_clock.run_until_idle()
    for identity in placed[::25]:
        toa.call("store.orders.approve", id=identity)
    # Beside the operations, as a data fix gone wrong would: no row of an order may hold less than one.
    Order.objects.filter(id=placed[30]).update(quantity=0)
    # Too late for the boundary before: none of them is cancelled yet.
    toa_clock.set(toa_clock.now + HOUR + 60_000)
    for number in range(5):
        place(f"B-{number}")
    toa_clock.run_until_idle()
    return placed


def swept_by(cadence, clock, settings):
    """The state after each of four pulses, and in which order orders were cancelled, by that cadence."""
    settings.TOA = {**settings.TOA, "CADENCE": cadence}
    sync()
    boundary = clock.now // CYCLE * CYCLE
    states = []
    for number in range(1, 5):
        clock.set(boundary + number * CYCLE)
        clock.run_until_idle()
        states.append(state())
    return states, order_of_cancellation()


def test_P11_a_declared_sweep_does_what_the_effect_does(orders, toa_clock, settings):
    began, before = toa_clock.now, state()
    with copy_of_the_state():
        by_effect, cancelled_by_effect = swept_by({CANCEL: None}, toa_clock, settings)
    assert state() == before
    toa_clock.set(began)
    with copy_of_the_state():
        by_sweep, cancelled_by_sweep = swept_by({CANCEL: DECLARED, EXPIRE: None}, toa_clock, settings)
    assert by_sweep == by_effect
    assert cancelled_by_sweep == cancelled_by_effect
    assert [sum(order["status"] == "cancelled" for order in states[0]) for states in by_sweep] == [99, 198, 239, 239]
