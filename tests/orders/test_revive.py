"""Paid orders at the warehouse: picked at once, picked and never heard of, never picked, and nobody to ask."""

from __future__ import annotations

import pytest
from django.db import connections

import toa
from shop.warehouse.ledger import Ledger
from store.orders.models import Order
from tests.orders.placing import fill, order, place, stock
from tests.reaching import reaching
from toa.cadence.actions import failures
from toa.models import Failure, History

MINUTE, HOUR = 60_000, 3_600_000
PULSE = 30 * MINUTE
GRID = {"n": 1, "i": 0}
REVIVE = "store.orders.revive"


def paid(reference: str = "A-1", quantity: int = 2) -> str:
    identity = place(reference, quantity=quantity)
    toa.call("store.orders.approve", id=identity, check=True)
    return identity


def revived():
    """Counts of the pulses that found something, as their lines of history have them."""
    rows = History.objects.filter(endpoint=REVIVE, outcome="made").exclude(code="").order_by("at")
    return [row.code.partition(";")[0] for row in rows]


def test_a_paid_order_is_picked_and_packed_at_once(db, toa_clock):
    fill("tea", 10)
    with reaching() as outside:
        outside.ledger.set_shelves({"tea": 10})
        identity = paid()
        toa_clock.run_until_idle()
        assert order(identity).status == "packed"
        assert outside.ledger.whole()["shelves"] == {"tea": 8}
    assert (stock("tea").available, stock("tea").reserved) == (8, {})


def test_one_whose_answer_was_lost_is_asked_for_again_and_picked_once(db, toa_clock):
    with reaching() as outside:
        outside.ledger.set_shelves({"tea": 10})
        fill("tea", 10)
        identity = paid()
        outside.faults.set({"next": ["lost"]})
        toa_clock.run_until_idle()
        assert order(identity).status == "approved"
        toa_clock.advance("2s")
        assert order(identity).status == "packed"
        assert outside.ledger.whole()["shelves"] == {"tea": 8}


def test_where_people_pack_nothing_is_asked(db, toa_clock):
    with reaching(picking="by_hand") as outside:
        fill("tea", 10)
        identity = paid()
        toa_clock.run_until_idle()
        toa_clock.set(toa_clock.now + 7 * HOUR)
        assert toa.call(REVIVE, GRID) is None
        assert order(identity).status == "approved"
        assert outside.faults.whole()["asked"] == {}


@pytest.mark.parametrize(
    ("answer", "status", "reason", "counts"),
    [
        ("picked", "packed", None, "1 made"),
        ("queued", "cancelled", "STUCK", "1 made"),
        ("unknown", "cancelled", "STUCK", "1 made"),
        ("none", "approved", None, "1 failed"),
    ],
)
def test_W10_an_order_silent_for_seven_hours(db, toa_clock, answer, status, reason, counts):
    fill("tea", 10)
    with reaching(silence="7h") as outside:
        identity = paid()
        # It is asked for and nothing comes of it: all the shelves are empty.
        toa_clock.run_until_idle()
        toa_clock.set(toa_clock.now + 7 * HOUR + MINUTE)
        assert order(identity).status == "approved"
        outside.ledger.set_shelves({"tea": 10 if answer == "picked" else 0})
        if answer == "unknown":
            outside.ledger._picks.clear()
        outside.faults.set({"fail": 1.0 if answer == "none" else 0.0})
        toa_clock.advance(PULSE)

        found = order(identity)
        assert (found.status, found.reason) == (status, reason)
        (code,) = revived()
        assert code == counts
        assert not Failure.objects.exists()
        if answer == "none":
            outside.faults.set({"fail": 0.0})
            outside.ledger.set_shelves({"tea": 10})
            toa_clock.advance(PULSE)
            assert order(identity).status == "packed"


def test_an_order_that_nobody_knows_of_is_told_to_a_person_once_and_goes_on_by_a_retry(db, toa_clock):
    fill("tea", 10)
    with reaching() as outside:
        identity = paid()
        toa_clock.run_until_idle()
        outside.faults.set({"fail": 1.0})
        toa_clock.set(toa_clock.now + 24 * HOUR - PULSE - MINUTE)
        toa_clock.advance(PULSE)
        assert (revived(), Failure.objects.count(), order(identity).escalated) == (["1 failed"], 0, None)
        toa_clock.advance(PULSE)
        toa_clock.advance(PULSE)
        assert order(identity).escalated is not None
        for hours in (7, 24, 48):
            toa_clock.set(toa_clock.now + hours * HOUR)
            toa_clock.advance(PULSE)
        failure = Failure.objects.get()
        assert (failure.endpoint, failure.entity) == ("store.orders.inquire", f"store.orders:{identity}")
        assert failure.error.startswith(f"NoAnswer: GET /orders/{identity}/status: ")
        assert order(identity).status == "approved"

        outside.faults.set({"fail": 0.0})
        outside.ledger.set_shelves({"tea": 10})
        failures.retry(failure.id, "anna")
        toa_clock.run_until_idle()
        assert (order(identity).status, Failure.objects.count()) == ("packed", 0)


class Telling(Ledger):
    """Its report that an order was picked arrives in the very moment when it is asked about the order."""

    def status(self, order):
        answer = super().status(order)
        try:
            toa.call("store.orders.pack", id=order)
        finally:
            connections.close_all()
        return {**answer, "status": "queued"}


def test_what_changes_the_order_while_the_warehouse_is_asked_wins(transactional_db, toa_clock):
    identity = place("A-1")
    Order.objects.filter(id=identity).update(status="approved")
    with reaching(Telling(), read="5s"):
        toa_clock.set(toa_clock.now + 7 * HOUR)
        assert toa.call(REVIVE, GRID).refused == 1
    assert (order(identity).status, order(identity).reason) == ("packed", None)
