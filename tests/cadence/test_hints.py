"""Hints of leased calls: as many as somebody can act on, and none that is acted on long after it was sent."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import redis

import toa
from tests.components.couriers.operations import book
from toa import tasks
from toa.cadence.calls import leasing
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.processes import Heartbeat
from toa.cadence.source import Hint
from toa.core.clock import to_datetime
from toa.models import Delay

BOOK = "components.couriers.book"
SECOND = 1000


@pytest.fixture(autouse=True)
def looks_at_everything(monkeypatch):
    """No watermark is left to the tests that follow."""
    monkeypatch.setattr(tasks, "serve", lambda: None)


@pytest.fixture
def hinted(db, broker_url):
    """How many hints of which endpoint wait in the broker."""
    with redis.Redis.from_url(broker_url) as client:
        client.delete(tasks.CALLS_QUEUE)

        def count():
            messages = client.lrange(tasks.CALLS_QUEUE, 0, -1)
            return Counter(json.loads(message)["headers"]["argsrepr"].split("'")[3] for message in messages)

        yield count
        client.delete(tasks.CALLS_QUEUE)


def test_of_a_backlog_no_more_is_moved_on_than_workers_can_take_and_the_rest_stays_to_be_found(
    db, toa_clock, served, monkeypatch
):
    monkeypatch.setattr(book, "BOOKED", [])
    Heartbeat("worker", capacity=4).beat()
    for number in range(20):
        toa.send(BOOK, {"input": {"order": str(number)}})
    hints = Collected()
    run_pass(hints)
    assert len(hints.hints) == 4
    due = Delay.objects.filter(wake_at__lte=to_datetime(toa_clock.now))
    assert due.count() == 16
    # Whoever is done finds what nobody was told of, and so does a look long after.
    assert perform(Hint("delay", BOOK), renew=False)
    assert due.count() == 15, "the longest due goes first"
    toa_clock.set(toa_clock.now + 60 * SECOND)
    toa_clock.advance(10 * SECOND)
    assert sorted(book.BOOKED, key=int) == [str(number) for number in range(20)]


@pytest.mark.parametrize(("capacity", "hints", "more"), [(8, 8, 1), (1, 1, 1), (0, 1, 0)])
def test_a_backlog_is_hinted_no_more_often_than_workers_can_take_it(hinted, toa_clock, capacity, hints, more):
    if capacity:
        Heartbeat("worker", capacity=capacity).beat()
    for number in range(50):
        toa.send(BOOK, {"input": {"order": str(number)}})
    toa_clock.set(toa_clock.now - toa_clock.now % (1800 * SECOND) + 1800 * SECOND)
    tasks.tick()
    assert hinted()[BOOK] == hints
    assert hinted()["store.orders.expire"] == 1, "beside the backlog"
    tasks.tick()
    assert hinted()[BOOK] == hints + more, "as many have been told of for this second as can be taken"
    toa_clock.set(toa_clock.now + SECOND + 1)
    tasks.tick()
    assert hinted()[BOOK] == 2 * hints + more


def test_a_hint_that_waited_for_a_second_is_let_go(db, toa_clock, monkeypatch):
    monkeypatch.setattr(book, "BOOKED", [])
    toa.send(BOOK, {"input": {"order": "A-1"}})
    sent = toa_clock.now
    toa_clock.set(sent + SECOND + 1)
    tasks.call("delay", BOOK, sent)
    assert book.BOOKED == [], "by now another one was sent"
    tasks.call("delay", BOOK, sent + 1)
    assert book.BOOKED == ["A-1"]


def test_a_hint_of_an_older_release_says_nothing_of_its_age(db, toa_clock, monkeypatch):
    monkeypatch.setattr(book, "BOOKED", [])
    toa.send(BOOK, {"input": {"order": "A-1"}})
    tasks.call("delay", BOOK)
    assert book.BOOKED == ["A-1"]


def test_a_call_is_taken_though_a_pass_moved_it_on_while_its_turn_was_found_out(db, toa_clock, monkeypatch):
    monkeypatch.setattr(book, "BOOKED", [])
    toa.send(BOOK, {"input": {"order": "A-1"}})
    run_pass(Collected())
    toa_clock.set(toa_clock.now + SECOND - 1)

    def slow():
        toa_clock.set(toa_clock.now + 1)
        run_pass(Collected())
        return 1

    monkeypatch.setattr(leasing, "most_at_once", slow)
    assert perform(Hint("delay", BOOK), renew=False)
    assert book.BOOKED == ["A-1"]
