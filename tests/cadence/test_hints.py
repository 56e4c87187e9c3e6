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


@pytest.mark.parametrize(("capacity", "hints"), [(8, 8), (1, 1), (0, 1)])
def test_a_backlog_is_hinted_no_more_often_than_workers_can_take_it(hinted, toa_clock, capacity, hints):
    if capacity:
        Heartbeat("worker", capacity=capacity).beat()
    for number in range(50):
        toa.send(BOOK, {"input": {"order": str(number)}})
    toa_clock.set(toa_clock.now - toa_clock.now % (300 * SECOND) + 300 * SECOND)
    tasks.tick()
    assert hinted() == Counter(
        {BOOK: hints, "store.orders.expire": 1, "store.orders.revive": 1, "fulfilment.courier.book": 1}
    )
    tasks.tick()
    assert hinted()[BOOK] == hints, "all of them have been told of for this second"
    toa_clock.set(toa_clock.now + SECOND)
    tasks.tick()
    assert hinted()[BOOK] == 2 * hints


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
