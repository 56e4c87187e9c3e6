"""Events on their way to receivers: in order for each pair, exactly once."""

import pytest

import toa
from tests.components.ledgers.models import Ledger
from toa.models import Delivery, Failure, History

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"


def lines(identity):
    return Ledger.objects.get(id=identity).lines


def test_events_are_delivered_in_the_order_of_the_changes(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    for _ in range(3):
        toa.call(f"{TALLIES}.add", {"by": 4}, id=tally)
    assert Delivery.objects.count() == 5
    toa_clock.run_until_idle()
    assert lines(tally) == ["1 created", "2 updated to 4", "3 updated to 8", "4 filled", "4 updated to 12"]
    assert Delivery.objects.count() == 0
    assert set(History.objects.values_list("source", "outcome")) == {("delivery", "made")}


def test_an_event_that_did_not_happen_is_not_delivered(toa_clock):
    toa.call(f"{TALLIES}.create", {"name": "first", "count": 9})
    assert list(Delivery.objects.values_list("event", flat=True)) == [f"{TALLIES}.created"]


def test_an_event_of_a_refused_call_is_not_delivered(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    toa.call(f"{TALLIES}.add", {"by": 1001}, id=tally)
    assert Delivery.objects.count() == 0


def test_a_failing_request_parks_its_delivery_and_not_the_operation(toa_clock, monkeypatch):
    from toa.runtime import bindings

    def broken(state, origin):
        raise KeyError("nothing there")

    event = next(e for e in bindings.component(TALLIES).events if e.name == "updated")
    monkeypatch.setattr(event.receivers[0], "request", broken)
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    other = toa.call(f"{TALLIES}.create", {"name": "second"})["id"]
    toa_clock.run_until_idle()
    toa.call(f"{TALLIES}.add", {"by": 12}, id=tally)
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    assert "nothing there" in failure.error
    assert lines(tally) == ["1 created", "2 filled"]
    monkeypatch.undo()
    toa.call(f"{TALLIES}.add", {}, id=tally)
    toa.call(f"{TALLIES}.add", {}, id=other)
    toa_clock.run_until_idle()
    assert lines(tally) == ["1 created", "2 filled"], "what comes after a failed delivery of the pair is parked"
    assert lines(other) == ["1 created", "2 updated to 1"], "nobody else is held"


def test_a_delivery_that_is_refused_lets_the_next_pass(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa.call("components.ledgers.note", {"line": "closed"}, id=tally)
    toa.call(f"{TALLIES}.add", {}, id=tally)
    toa_clock.run_until_idle()
    assert lines(tally) == ["closed"]
    assert list(History.objects.values_list("outcome", "code")) == [("refused", "CLOSED")] * 2
