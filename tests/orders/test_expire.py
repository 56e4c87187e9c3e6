"""The sweep over orders that were not paid in time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, connections, transaction

import toa
from store.orders.models import Order
from tests.orders.locks import wait_until_blocked
from tests.orders.placing import fill, order, place, stock
from toa.models import History

GRID = {"n": 1, "i": 0}
CYCLE = 300_000


def test_W4_250_overdue_take_three_pulses_oldest_first_and_each_gives_its_stock_back_once(toa_clock):
    fill("tea", 1_000)
    placed = []
    for number in range(250):
        placed.append(place(f"A-{number:03}", quantity=2))
        toa_clock.set(toa_clock.now + 10)
    toa_clock.run_until_idle()
    assert stock("tea").available == 500

    # Down past every deadline: what was due meanwhile is done by the pulses that follow.
    toa_clock.set(next_boundary(toa_clock.now + 3_600_000) - 1)
    toa_clock.run_until_idle()
    handled = [cancelled_by_the_next_pulse(toa_clock) for _ in range(4)]

    assert [len(some) for some in handled] == [100, 100, 50, 0]
    assert [identity for some in handled for identity in some] == placed
    assert {order(identity).VERSION for identity in placed} == {2}
    assert (stock("tea").available, stock("tea").reserved) == (1_000, {})
    assert History.objects.filter(endpoint="fulfilment.stock.release", outcome="made").count() == 250


def test_an_order_may_be_paid_at_its_last_moment_and_is_swept_after_it(toa_clock):
    identity = place("A-1")
    toa_clock.set(order(identity).pay_by)

    assert toa.call("store.orders.expire", GRID) == swept()
    toa_clock.set(toa_clock.now + 1)
    assert toa.call("store.orders.expire", GRID) == swept(made=1)


def test_an_order_that_cannot_be_cancelled_does_not_keep_the_others_waiting(toa_clock):
    broken, sound = place("A-1"), place("A-2")
    # Beside the operations, as a data fix gone wrong would: no row of an order may hold less than one.
    Order.objects.filter(id=broken).update(quantity=0)
    toa_clock.set(toa_clock.now + 3_600_001)

    reply = toa.call("store.orders.expire", GRID)
    (error,) = reply.errors
    assert reply == swept(made=1, failed=1, errors=[error])
    assert error.startswith(f"{broken}: OperationFault: ")
    assert (order(broken).status, order(sound).status) == ("pending", "cancelled")


def test_W6_a_sweep_that_fails_on_its_fortieth_leaves_only_that_one_to_the_next_pulse(toa_clock):
    fill("tea", 60)
    placed = [place(f"A-{number:02}") for number in range(60)]
    toa_clock.run_until_idle()
    broken = placed[39]
    Order.objects.filter(id=broken).update(quantity=0)
    toa_clock.set(next_boundary(toa_clock.now + 3_600_000) - 1)
    toa_clock.advance(1)
    assert set(Order.objects.exclude(status="cancelled").values_list("id", flat=True)) == {UUID(broken)}
    line = History.objects.get(source="pulse", endpoint="store.orders.expire", code__contains="failed")
    assert (line.outcome, line.code.partition(":")[0]) == ("made", f"59 made, 1 failed; {broken}")
    (error,) = line.cause["swept"]["errors"]
    assert error.startswith(line.code.partition("; ")[2])

    Order.objects.filter(id=broken).update(quantity=1)
    toa_clock.advance_to(next_boundary(toa_clock.now))
    assert order(broken).status == "cancelled"
    assert {order(identity).VERSION for identity in placed} == {2}
    (line,) = History.objects.filter(entity=f"store.orders:{broken}", source="sweep")
    assert (line.outcome, line.count) == ("failed", 1)


def test_W5_paid_between_the_sweeps_read_and_its_cancel_stays_paid(transactional_db, toa_clock):
    identity = place("A-1")
    toa_clock.set(toa_clock.now + 3_600_001)

    with ThreadPoolExecutor() as threads:
        with transaction.atomic():
            toa.call("store.orders.approve", id=identity)
            sweep = threads.submit(in_own_connection, "store.orders.expire", GRID)
            # It has read the order as pending, and waits for its row.
            wait_until_blocked(connection)
        assert sweep.result(timeout=60) == swept(refused=1)

    assert (order(identity).status, order(identity).VERSION) == ("approved", 2)


def test_W7_two_overlapping_sweeps_change_every_order_once(transactional_db, toa_clock):
    fill("tea", 100)
    placed = [place(f"A-{number:02}") for number in range(20)]
    toa_clock.run_until_idle()
    toa_clock.set(toa_clock.now + 3_600_001)

    with ThreadPoolExecutor() as threads:
        with holding(placed[0]):
            sweeps = [threads.submit(in_own_connection, "store.orders.expire", GRID) for _ in range(2)]
            # Both have read all twenty, and wait for the first.
            wait_until_blocked(connection, sessions=2)
        counts = [sweep.result(timeout=60) for sweep in sweeps]

    assert sum(count.made for count in counts) == 20
    assert sum(count.refused for count in counts) == 20
    assert {(order(identity).status, order(identity).VERSION) for identity in placed} == {("cancelled", 2)}
    toa_clock.run_until_idle()
    assert stock("tea").available == 100
    assert History.objects.filter(endpoint="fulfilment.stock.release", outcome="made").count() == 20


def cancelled_by_the_next_pulse(clock) -> list[str]:
    """The orders that the pulse at the next boundary cancelled, in the order in which it did."""
    before = set(Order.objects.filter(status="cancelled").values_list("id", flat=True))
    clock.advance_to(next_boundary(clock.now))
    # Within one moment of a standing clock, deliveries were stored in the order of the cancellations.
    lines = History.objects.filter(endpoint="fulfilment.stock.release").order_by("call")
    moved = [line.cause["entity"].removeprefix("store.orders:") for line in lines]
    known = {identity.hex for identity in before}
    return [identity for identity in moved if identity not in known]


def swept(**counts) -> dict:
    return {"made": 0, "refused": 0, "failed": 0, "left": 0, "errors": [], **counts}


def next_boundary(moment: int) -> int:
    return (moment // CYCLE + 1) * CYCLE


def in_own_connection(endpoint, input):
    try:
        return toa.call(endpoint, input)
    finally:
        connections.close_all()


@contextmanager
def holding(identity: str):
    with transaction.atomic():
        Order.objects.select_for_update(no_key=True).get(id=identity)
        yield
