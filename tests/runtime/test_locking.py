"""Locks across replicas: who holds them, for how long, and what becomes of one whose holder is gone."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event, Thread
from uuid import uuid4

import pytest
from django.db import connection, transaction

import toa
from tests.components.couriers.operations import book
from tests.together import together
from toa.core.calling import Lease, fresh
from toa.core.clock import to_moment
from toa.exceptions import InvalidInput, LeaseLost, LockLost, LockTaken, NotAllowedHere
from toa.models import Lock
from toa.runtime import bindings
from toa.runtime.bindings import Operation
from toa.runtime.locking import Held, locked
from toa.testing.crashes import Crash

BOOK = "components.couriers.book"
KEY = "components.couriers:courier-7"
LEASE_MS = 1_000


@pytest.fixture(autouse=True)
def outside():
    """The outside system, empty."""
    book.BOOKED.clear()
    book.DURING.clear()


@pytest.fixture
def operation() -> Operation:
    return bindings.operation(BOOK)


def test_a_lock_is_a_row_while_it_is_held(operation, toa_clock):
    with locked(operation, fresh(BOOK), "courier-7", 0) as lock:
        row = Lock.objects.get()
        assert (row.key, row.token, row.holder) == (KEY, lock.token, BOOK)
        assert (to_moment(row.taken_at), to_moment(row.until)) == (toa_clock.now, toa_clock.now + LEASE_MS)
        lock.check()
    assert not Lock.objects.exists()


def test_an_effect_takes_a_lock_through_its_context(toa_clock):
    book.DURING.append(lambda lock: keys.extend(Lock.objects.values_list("key", flat=True)))
    keys: list[str] = []

    assert toa.call(BOOK, {"order": "7"}) == {"booked": True}
    assert keys == [KEY]
    assert not Lock.objects.exists()


def test_what_an_effect_raises_gives_the_lock_back(toa_clock):
    def fail(lock):
        raise ValueError("outside")

    book.DURING.append(fail)
    with pytest.raises(ValueError, match="outside"):
        toa.call(BOOK, {"order": "7"})
    assert not Lock.objects.exists()


def test_a_taken_lock_is_refused_with_its_holder_and_the_time_waited(operation, toa_clock):
    with locked(operation, fresh(BOOK), "courier-7", 0):
        with pytest.raises(LockTaken) as refusal:
            toa.call(BOOK, {"order": "7", "wait": "20ms"})
        assert refusal.value.message == f"{BOOK} holds the lock '{KEY}'; waited 20ms for it"
        assert toa.call(BOOK, {"order": "8"}) == {"booked": True}, "another key is another lock"
    assert toa.call(BOOK, {"order": "7"}) == {"booked": True}


def test_W11_two_replicas_at_once_book_one_courier(transactional_db, toa_clock):
    for attempt in range(5):
        order = str(attempt)
        replies = together(4, lambda i, order=order: toa.call(BOOK, {"order": order, "wait": "10s"}))

        assert sorted(reply["booked"] for reply in replies) == [False, False, False, True]
        assert book.BOOKED.count(order) == 1


def test_a_waiting_call_goes_on_as_soon_as_the_lock_is_free(transactional_db, toa_clock):
    held, go_on = Event(), Event()

    def hold(lock):
        held.set()
        assert go_on.wait(30)

    book.DURING.append(hold)
    first = Thread(target=in_own_connection, args=({"order": "7"},))
    first.start()
    assert held.wait(30)
    try:
        with pytest.raises(LockTaken):
            toa.call(BOOK, {"order": "7"})
    finally:
        go_on.set()
    assert toa.call(BOOK, {"order": "7", "wait": "10s"}) == {"booked": False}
    first.join(30)


def test_the_lock_of_a_dead_holder_lapses_after_its_lease(operation, toa_clock):
    dead = die_holding(operation)

    toa_clock.set(toa_clock.now + LEASE_MS - 1)
    with pytest.raises(LockTaken):
        toa.call(BOOK, {"order": "7"})
    toa_clock.set(toa_clock.now + 1)
    with pytest.raises(LockLost, match="silent for 1s"):
        dead.check()
    with locked(operation, fresh(BOOK), "courier-7", 0) as lock:
        assert lock.token != dead.token
        assert not dead.renew()
        assert not dead.release(), "it is somebody else's now"
        lock.check()


def test_a_holder_that_lost_its_lock_hears_of_it_at_the_end(operation, toa_clock):
    def freeze(lock):
        toa_clock.set(toa_clock.now + LEASE_MS)
        assert toa.call(BOOK, {"order": "7"}) == {"booked": True}

    book.DURING.append(freeze)
    with pytest.raises(LockLost, match=f"'{KEY}' lapsed while {BOOK} held it"):
        toa.call(BOOK, {"order": "7"})


def test_a_lock_that_lapsed_and_that_nobody_took_goes_on(operation, toa_clock):
    with locked(operation, fresh(BOOK), "courier-7", 0) as lock:
        toa_clock.set(toa_clock.now + LEASE_MS)
        assert lock.renew()
        lock.check()


def test_a_lock_is_renewed_while_it_is_held(transactional_db, operation):
    operation = Operation(operation.component, replace(operation.spec, lease_ms=60))
    with locked(operation, fresh(BOOK), "courier-7", 0) as lock:
        until = [Lock.objects.get().until]
        give_up = time.monotonic() + 30
        while len(until) < 4 and time.monotonic() < give_up:
            seen = Lock.objects.get().until
            if seen != until[-1]:
                until.append(seen)
        assert len(until) == 4
        assert until == sorted(until)
        assert Lock.objects.get().token == lock.token


def test_a_lock_is_refused_inside_a_transaction(transactional_db, operation):
    with (
        transaction.atomic(),
        pytest.raises(NotAllowedHere, match="open the transaction under it"),
        locked(operation, fresh(BOOK), "courier-7", 0),
    ):
        raise AssertionError("never reached")
    with locked(operation, fresh(BOOK), "courier-7", 0), transaction.atomic():
        assert Lock.objects.exists()


def test_an_effect_that_lost_its_own_lease_gets_no_lock(operation, toa_clock):
    call = replace(fresh(BOOK), lease=Lease(table="toa_delay", id=uuid4(), token=uuid4()))
    with pytest.raises(LeaseLost), locked(operation, call, "courier-7", 0):
        raise AssertionError("never reached")
    assert not Lock.objects.exists()


@pytest.mark.parametrize("key", ["", "x" * 192, "nul\0", 7])
def test_a_key_is_text_within_bounds(operation, toa_clock, key):
    with pytest.raises(InvalidInput, match="1 to 191 characters"), locked(operation, fresh(BOOK), key, 0):
        raise AssertionError("never reached")


def die_holding(operation: Operation) -> Held:
    """Take the lock as a process does that dies before it gives it back."""
    with pytest.raises(Crash), locked(operation, fresh(BOOK), "courier-7", 0) as held:
        raise Crash
    return held


def in_own_connection(input):
    try:
        return toa.call(BOOK, input)
    finally:
        connection.close()
