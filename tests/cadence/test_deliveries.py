"""Events on their way to receivers: in order for each pair, exactly once."""

import pytest

import toa
from tests.components.ledgers.models import Ledger
from toa.cadence.actions.failures import retry
from toa.cadence.sources import horizon
from toa.core.clock import to_datetime
from toa.models import Delivery, Failure, History
from toa.runtime import bindings

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"


def waiting():
    """The deliveries on their way to ledgers; another component hears of tallies too."""
    return Delivery.objects.filter(receiver="components.ledgers")


def lines(identity):
    return Ledger.objects.get(id=identity).lines


def test_events_are_delivered_in_the_order_of_the_changes(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    for _ in range(3):
        toa.call(f"{TALLIES}.add", {"by": 4}, id=tally)
    assert waiting().count() == 5
    toa_clock.run_until_idle()
    assert lines(tally) == ["1 created", "2 updated to 4", "3 updated to 8", "4 filled", "4 updated to 12"]
    assert Delivery.objects.count() == 0
    assert set(History.objects.values_list("source", "outcome")) == {("delivery", "made")}


def test_an_event_that_did_not_happen_is_not_delivered(toa_clock):
    toa.call(f"{TALLIES}.create", {"name": "first", "count": 9})
    assert list(waiting().values_list("event", flat=True)) == [f"{TALLIES}.created"]


def test_an_event_of_a_refused_call_is_not_delivered(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    toa.call(f"{TALLIES}.add", {"by": 1001}, id=tally)
    assert Delivery.objects.count() == 0


def test_a_failing_request_parks_its_delivery_and_not_the_operation(toa_clock, monkeypatch):
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
    made = History.objects.filter(endpoint="components.ledgers.note")
    assert list(made.values_list("outcome", "code")) == [("refused", "CLOSED")] * 2


def test_T20_what_comes_after_a_failed_delivery_goes_on_in_order_after_the_retry(toa_clock, monkeypatch):
    from tests.components.ledgers.operations import note

    tally, other = (toa.call(f"{TALLIES}.create", {"name": name})["id"] for name in ("first", "second"))
    toa_clock.run_until_idle()

    def broken(input, entry, context):
        raise ValueError("broken")

    monkeypatch.setattr(bindings.operation("components.ledgers.note"), "function", broken)
    toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa_clock.run_until_idle()
    monkeypatch.setattr(bindings.operation("components.ledgers.note"), "function", note.transition)
    for _ in range(3):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa.call(f"{TALLIES}.add", {"by": 1}, id=other)
    toa_clock.run_until_idle()
    ledgers = Delivery.objects.filter(receiver="components.ledgers")
    assert [row.wake_at for row in ledgers.order_by("version")] == [None] * 4, "parked in order"
    assert lines(other) == ["1 created", "2 updated to 1"], "nobody else is held"
    retry(Failure.objects.get(endpoint="components.ledgers.note").id, by="ann")
    toa_clock.run_until_idle()
    assert lines(tally) == ["1 created", *(f"{count + 1} updated to {count}" for count in range(1, 5))]
    assert not ledgers.exists()


def test_T21_a_long_queue_behind_one_that_waits_is_not_walked_over(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    other = toa.call(f"{TALLIES}.create", {"name": "second"})["id"]
    toa_clock.run_until_idle()
    for _ in range(30):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    head = Delivery.objects.filter(receiver="components.ledgers", source_id=tally).order_by("version")[0]
    Delivery.objects.filter(id=head.id).update(wake_at=to_datetime(toa_clock.now + 60_000))
    toa.call(f"{TALLIES}.add", {"by": 1}, id=other)
    toa_clock.run_until_idle()
    waiting = Delivery.objects.filter(receiver="components.ledgers", source_id=tally)
    assert set(waiting.values_list("wake_at", flat=True)) == {to_datetime(toa_clock.now + 60_000)}
    assert horizon().due is None, "a look finds none of them"
    assert lines(other) == ["1 created", "2 updated to 1"]
    toa_clock.advance("1m")
    assert len(lines(tally)) == 32
    assert [int(line.split()[0]) for line in lines(tally)] == sorted(int(line.split()[0]) for line in lines(tally))


def test_what_follows_a_delivery_for_other_code_is_out_of_the_way(toa_clock):
    tally, other = (toa.call(f"{TALLIES}.create", {"name": name})["id"] for name in ("first", "second"))
    toa_clock.run_until_idle()
    for _ in range(3):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    head = waiting().filter(source_id=tally).order_by("version")[0]
    Delivery.objects.filter(id=head.id).update(endpoint="components.ledgers.not_yet")
    toa.call(f"{TALLIES}.add", {"by": 1}, id=other)
    toa_clock.run_until_idle()
    behind = waiting().filter(source_id=tally).exclude(id=head.id)
    assert set(behind.values_list("wake_at", flat=True)) == {to_datetime(toa_clock.now + 10_000)}
    assert lines(other) == ["1 created", "2 updated to 1"]
    Delivery.objects.filter(id=head.id).update(endpoint="components.ledgers.note")
    toa_clock.advance("11s")
    assert [int(line.split()[0]) for line in lines(tally)] == [1, 2, 3, 4]
