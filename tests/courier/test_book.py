"""Couriers for packed orders: one booking outside for each, whoever asks and however often."""

from __future__ import annotations

import threading

import toa
from fulfilment.courier.models import Booking
from shop.warehouse.ledger import Ledger
from tests.nodes import node
from tests.orders.placing import fill, place
from tests.reaching import reaching
from toa.models import History, Lock

BOOK = "fulfilment.courier.book"
GRID = {"n": 1, "i": 0}


def packed(*references: str) -> list[str]:
    identities = [place(reference) for reference in references]
    for identity in identities:
        toa.call("store.orders.approve", id=identity, check=True)
        toa.call("store.orders.pack", id=identity, check=True)
    return identities


def bookings(outside) -> list[tuple[str, str]]:
    return [(one["order"], one["booking"]) for one in outside.ledger.whole()["bookings"]]


def test_each_packed_order_gets_a_courier_once_oldest_first(db, toa_clock):
    fill("tea", 10)
    with reaching(picking="by_hand") as outside:
        first, second = packed("A-1", "A-2")
        toa_clock.advance("15m")
        assert bookings(outside) == [(first, "C1"), (second, "C2")]
        toa_clock.advance("30m")
        assert outside.faults.whole()["asked"]["booking"] == 2
    assert dict(Booking.objects.values_list("id", "reference")) == {
        row.id: {first: "C1", second: "C2"}[row.id.hex] for row in Booking.objects.all()
    }
    assert not Lock.objects.exists()


def test_what_fails_is_asked_again_at_the_next_pulse_and_keeps_nobody_waiting(db, toa_clock):
    fill("tea", 10)
    with reaching(picking="by_hand") as outside:
        first, second = packed("A-1", "A-2")
        toa_clock.run_until_idle()
        outside.faults.set({"next": ["lost"]})
        assert toa.call(BOOK, GRID) == {
            "made": 1,
            "refused": 0,
            "failed": 1,
            "left": 0,
            "errors": [
                f"{first}: NoAnswer: POST /bookings: the connection broke: [Errno 104] Connection reset by peer"
            ],
        }
        assert toa.call(BOOK, GRID)["made"] == 1
        assert bookings(outside) == [(first, "C1"), (second, "C2")]
    assert History.objects.get(source="sweep").entity == f"fulfilment.courier:{first}"


def test_without_a_courier_nothing_is_asked(db, toa_clock):
    fill("tea", 10)
    packed("A-1")
    toa_clock.advance("15m")
    assert Booking.objects.get().reference is None
    assert set(History.objects.filter(endpoint=BOOK).values_list("outcome", flat=True)) == {"made"}


class Slow(Ledger):
    """The first booking takes until it is let go."""

    def __init__(self):
        super().__init__()
        self.asked, self.let_go = threading.Event(), threading.Event()

    def book(self, key, order):
        self.asked.set()
        assert self.let_go.wait(20)
        return super().book(key, order)


def test_W11_two_replicas_at_once_make_one_booking(transactional_db, toa_clock):
    fill("tea", 10)
    with reaching(Slow(), picking="by_hand", read="20s") as outside:
        (identity,) = packed("A-1")
        toa_clock.run_until_idle()

        def book(**counts):
            reply = toa.call(BOOK, GRID)
            assert (reply.made, reply.refused) == (counts.get("made", 0), counts.get("refused", 0)), reply

        with node(lambda: book(made=1)) as one:
            assert outside.ledger.asked.wait(20)
            # The other has read the order as one without a courier too, and finds the lock taken.
            with node(lambda: book(refused=1)) as other:
                assert other.end() == 0
            outside.ledger.let_go.set()
            assert one.end() == 0

        assert bookings(outside) == [(identity, "C1")]
        assert outside.faults.whole()["asked"]["booking"] == 1
    assert Booking.objects.get().reference == "C1"
