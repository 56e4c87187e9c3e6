"""The plan of a chaos run, its customers' book, and a proof that finds what does not hold."""

from __future__ import annotations

import pytest

import toa
from shop.chaos.customers import Seen, shop
from shop.chaos.plan import make_plan
from shop.chaos.proving import Facts, prove
from shop.chaos.windows import FAULTS
from shop.warehouse.faults import Settings
from store.orders.models import Order
from tests.orders.placing import fill, place
from tests.reaching import reaching


def test_the_same_seed_makes_the_same_plan_and_another_one_another():
    assert make_plan(100, 1) == make_plan(100, 1)
    assert make_plan(100, 1).wishes != make_plan(100, 2).wishes


def test_a_plan_has_customers_who_pay_who_do_not_and_who_give_up():
    plan = make_plan(2_000, 1)
    assert len(plan.kills) == 8
    paid = [wish for wish in plan.wishes if wish.pay_s is not None]
    assert 1_400 < len(paid) < 1_600
    assert 100 < len([wish for wish in paid if wish.give_up_s is not None]) < 250
    assert all(wish.give_up_s is None or wish.pay_s <= wish.give_up_s for wish in paid)


def test_all_faults_are_on():
    settings = Settings(**FAULTS)
    assert all(share > 0 for share in (settings.fail, settings.hang, settings.lie, settings.lost, settings.drift))


def test_customers_place_pay_give_up_and_look_and_each_answer_is_timed(db, toa_clock):
    plan = make_plan(20, 1)
    for product in plan.stock:
        fill(product, 100)
    seen = shop(plan.wishes, begins=0.0)
    paid = [wish for wish in plan.wishes if wish.pay_s is not None]
    assert (seen.placed, len(seen.paid), seen.too_late) == (20, len(paid), 0)
    assert {what: len(waits) for what, waits in seen.waits_ms.items()} == {
        "place": 20,
        "pay": len(paid),
        "give up": len([wish for wish in paid if wish.give_up_s is not None]),
        "look": 20,
    }
    both = Seen()
    both += seen
    both += Seen(**seen.document())
    assert both.placed == 40 and len(both.waits_ms["look"]) == 40


@pytest.fixture
def rested(db, toa_clock):
    """A run of three orders that came to rest: one packed, one given up, one never paid; and what is known of it."""
    fill("tea", 10)
    plan = make_plan(3, 1)
    with reaching() as outside:
        outside.ledger.set_shelves({"tea": 10})
        packed, given_up, unpaid = (place(f"A-{number}") for number in range(3))
        seen = Seen(placed=3)
        toa.call("store.orders.approve", id=given_up, check=True)
        toa.call("store.orders.cancel", {"reason": "CUSTOMER"}, id=given_up, check=True)
        toa.call("store.orders.approve", id=packed, check=True)
        seen.paid = {packed: toa_clock.now, given_up: toa_clock.now}
        toa_clock.run_until_idle()
        toa.call("store.orders.cancel", {"reason": "EXPIRED"}, id=unpaid, check=True)
        toa_clock.advance("15m")

        def broken():
            ledger = {**outside.ledger.whole(), "strayed": outside.strayed}
            facts = Facts(plan=plan, seen=seen, ledger=ledger, load=1.0)
            return [proof.claim for proof in prove(facts) if proof.broken]

        yield outside, broken, packed, given_up


def test_a_run_that_went_well_breaks_no_claim(rested):
    _, broken, _, _ = rested
    assert broken() == []


def test_what_does_not_hold_is_found(rested):
    outside, broken, packed, given_up = rested
    outside.ledger.refund("another key", given_up, "1.00")
    outside.ledger.book("another key", packed)
    outside.ledger.set_shelves({"tea": 3})
    Order.objects.filter(id=packed).update(status="approved")
    found = " ".join(broken())
    for claim in ("came to its end", "refunds exists once", "bookings exists once", "shelves and copy agree"):
        assert claim in found
