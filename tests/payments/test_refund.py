"""What is paid back: once outside, whatever happens between the provider's yes and our writing it down."""

from __future__ import annotations

import os
import signal
from decimal import Decimal

import toa
from shop.warehouse.ledger import Ledger
from store.payments.models import Refund
from tests.nodes import node
from tests.orders.placing import fill, order, place
from tests.reaching import reaching
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.source import Hint
from toa.models import Delay, Failure, History

REFUND = "store.payments.refund"


def given_up(reference: str = "A-1", total: str = "12.50", *, paid: bool = True) -> str:
    identity = place(reference, total=total)
    if paid:
        toa.call("store.orders.approve", id=identity, check=True)
    toa.call("store.orders.cancel", {"reason": "CUSTOMER"}, id=identity, check=True)
    return identity


def refunds(outside) -> list[tuple[str, str, str]]:
    return [(one["order"], one["amount"], one["refund"]) for one in outside.ledger.whole()["refunds"]]


def test_a_paid_order_that_is_given_up_is_paid_back_once(db, toa_clock):
    fill("tea", 10)
    with reaching(picking="by_hand") as outside:
        paid, unpaid = given_up("A-1"), given_up("A-2", paid=False)
        toa_clock.run_until_idle()
        assert refunds(outside) == [(paid, "12.50", "R1")]
        assert toa.call(REFUND, {"order": paid}) == {"refund": "R1"}
        assert toa.call(REFUND, {"order": unpaid}).code == "NOT_OWED"
        assert outside.faults.whole()["asked"]["refund"] == 1
    row = Refund.objects.get()
    assert (row.id.hex, row.amount, row.reference) == (paid, Decimal("12.50"), "R1")


def test_a_lost_answer_and_nonsense_are_asked_again_under_the_same_key(db, toa_clock):
    fill("tea", 10)
    with reaching(picking="by_hand") as outside:
        outside.faults.set({"next": ["lost", "absurd", "500", "silent", "html"]})
        paid = given_up()
        toa_clock.advance("3m")
        assert refunds(outside) == [(paid, "12.50", "R1")]
        assert outside.faults.whole()["asked"]["refund"] == 6
    assert Refund.objects.get().reference == "R1"
    assert not Failure.objects.exists()


def test_without_a_provider_it_is_owed_and_the_history_says_why(db, toa_clock):
    fill("tea", 10)
    given_up()
    toa_clock.run_until_idle()
    assert Refund.objects.get().reference is None
    line = History.objects.get(endpoint=REFUND)
    assert (line.outcome, line.code) == ("refused", "NOT_CONFIGURED")


class Deadly(Ledger):
    """It says yes to the first refund, and whoever asked is dead before he hears it."""

    victim: int | None = None

    def refund(self, key, order, amount):
        answer = super().refund(key, order, amount)
        if self.victim is not None:
            os.kill(self.victim, signal.SIGKILL)
            self.victim = None
        return answer


def test_a_worker_that_dies_after_the_providers_yes_leaves_one_refund_and_its_record(transactional_db, toa_clock):
    fill("tea", 10)
    with reaching(Deadly(), picking="by_hand", read="5s") as outside:
        paid = given_up()
        while not Delay.objects.filter(endpoint=REFUND).exists():
            run_pass(Collected())

        with node(lambda: perform(Hint("delay", REFUND), renew=False)) as worker:
            outside.ledger.victim = worker.pid
            assert worker.end() == -signal.SIGKILL
        assert refunds(outside) == [(paid, "12.50", "R1")]
        assert Refund.objects.get().reference is None

        toa_clock.advance("31s")
        assert refunds(outside) == [(paid, "12.50", "R1")]
    assert (Refund.objects.get().reference, order(paid).status) == ("R1", "cancelled")
    assert not Delay.objects.exists()
