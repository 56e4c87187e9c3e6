"""Deadlines are state: what is due is read from the row itself."""

from dataclasses import replace

import pytest
from django.db import connection

import toa
from tests.components.claims.models import Claim
from tests.components.claims.operations import at_a
from tests.components.meters.models import Meter
from toa.cadence.actions.failures import discard, retry
from toa.cadence.sources import horizon
from toa.core.clock import to_datetime
from toa.models import Delivery, Failure, History, Revision
from toa.runtime import bindings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_deadlines")]

CLAIMS = "components.claims"
METERS = "components.meters"
TALLIES = "components.tallies"
HOUR = 3_600_000
DAY = 24 * HOUR


@pytest.fixture
def claim(toa_clock):
    """The id of a process, and of the tally it listens to."""
    identity = toa.call("components.tallies.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    Claim.objects.update(log=[])
    return identity


def put(identity, **values):
    toa.call(f"{CLAIMS}.set", values, id=identity)
    Claim.objects.update(log=[])


def row(identity):
    return Claim.objects.get(id=identity)


def test_T1_a_deadline_set_is_the_next_moment(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR)
    assert horizon().next == toa_clock.now + HOUR
    toa_clock.advance(HOUR - 1)
    assert row(claim).log == []
    toa_clock.advance(1)
    assert (row(claim).log, row(claim).a) == (["a"], None)
    line = History.objects.get(source="deadline")
    assert (line.outcome, line.code, line.lateness_ms, line.entity) == ("made", "a", 0, f"{CLAIMS}:{claim}")


def test_T2_a_moved_deadline_runs_once_at_its_new_moment(claim, toa_clock):
    start = toa_clock.now
    put(claim, a=start + HOUR)
    put(claim, a=start + 3 * HOUR)
    toa_clock.advance_to(start + 3 * HOUR - 1)
    assert row(claim).log == []
    toa_clock.advance(1 + 5 * HOUR)
    assert row(claim).log == ["a"]


@pytest.mark.parametrize("how", ["operation", "save", "sql"])
def test_T3_a_deadline_cleared_by_any_means_runs_nothing(claim, toa_clock, how):
    put(claim, a=toa_clock.now + HOUR)
    if how == "operation":
        put(claim, a=None)
    elif how == "save":
        one = row(claim)
        one.a = None
        one.save()
    else:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE components_claims_claim SET a = NULL")
    toa_clock.advance("2h")
    assert row(claim).log == []


def test_T3_a_deadline_brought_forward_by_raw_sql_runs_then(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE components_claims_claim SET a = a - interval '30 minutes'")
    toa_clock.advance(HOUR // 2)
    assert row(claim).log == ["a"]


def test_T4_the_earliest_first_then_by_name_each_its_own_commit(claim, toa_clock):
    moment = toa_clock.now + HOUR
    put(claim, a=moment, b=moment, chain=moment - 1)
    version = row(claim).version
    toa_clock.set(moment)
    toa_clock.run_until_idle()
    assert row(claim).log == [moment - 1, "a", "b"]
    assert row(claim).version == version + 3


def test_T4_one_that_clears_another_keeps_it_from_running(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR, b=toa_clock.now + HOUR, mode="clears b")
    toa_clock.advance("2h")
    assert row(claim).log == ["a"]


def test_T5_an_event_handled_late_counts_from_the_events_time(claim, toa_clock):
    put(claim, mode="listen")
    happened = toa_clock.now
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.set(happened + 3 * HOUR)
    toa_clock.run_until_idle()
    assert row(claim).a == to_datetime(happened + DAY)


def test_T6_a_daily_chain_after_an_outage_has_consecutive_moments(claim, toa_clock):
    first = toa_clock.now + DAY
    put(claim, chain=first)
    toa_clock.set(first + 4 * DAY + HOUR)
    toa_clock.run_until_idle()
    assert row(claim).log == [first + day * DAY for day in range(5)]
    assert row(claim).chain == to_datetime(first + 5 * DAY)


@pytest.mark.parametrize(("mode", "named"), [("leave", "a is still"), ("again", "a is still"), ("error", "NO")])
def test_T7_T8_a_transition_that_leaves_its_field_is_a_failure_and_no_loop(claim, toa_clock, mode, named):
    moment = toa_clock.now + HOUR
    put(claim, a=moment, mode=mode)
    toa_clock.advance("24h")
    failure = Failure.objects.get()
    assert (failure.source, failure.entity) == ("deadline", f"{CLAIMS}:{claim}")
    assert named in failure.error
    assert (row(claim).clock_state, row(claim).a, row(claim).log) == ("failed", to_datetime(moment), [])
    assert len(at_a.TRIES) == 1


def test_T8_another_past_moment_is_due_at_once(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR, mode="past")
    toa_clock.advance(HOUR)
    assert row(claim).log == ["a", "b"]


def test_T8_one_moment_set_twice_is_two_calls_with_two_keys(claim, toa_clock):
    moment = toa_clock.now + HOUR
    put(claim, a=moment)
    toa_clock.advance(HOUR)
    put(claim, a=moment)
    toa_clock.run_until_idle()
    assert len(set(at_a.TRIES)) == 2


def test_T9_a_timeout_closes_and_hears_its_own_consequence_once(claim, toa_clock):
    put(claim, mode="sends")
    moment = row(claim).timeout_at
    assert moment == to_datetime(toa_clock.now + 7 * DAY)
    toa_clock.advance(7 * DAY)
    assert row(claim).clock_state == "closed"
    assert row(claim).log == ["timeout", "updated 1"]
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    assert row(claim).log == ["timeout", "updated 1"], "a closed process hears nothing else"
    assert History.objects.filter(outcome="refused", code="CLOSED").count() == 1


def test_T9_a_last_word_that_fails_leaves_the_process_closed(claim, toa_clock, monkeypatch):
    put(claim, mode="sends")

    def broken(input, entry, context):
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(bindings.operation(f"{CLAIMS}.hear"), "function", broken)
        toa_clock.advance(7 * DAY)
    assert (row(claim).clock_state, row(claim).log) == ("closed", ["timeout"])
    retry(Failure.objects.get().id, by="ann")
    toa_clock.run_until_idle()
    assert (row(claim).clock_state, row(claim).log) == ("closed", ["timeout", "updated 1"])


def test_T9_a_process_closed_before_never_times_out(claim, toa_clock):
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + HOUR, "close": True}, id=claim)
    toa_clock.advance(8 * DAY)
    assert (row(claim).clock_state, row(claim).log) == ("closed", ["set"])
    assert not History.objects.filter(source="deadline").exists()


def test_T10_a_changed_lifetime_leaves_running_instances_alone(claim, toa_clock, monkeypatch):
    before = row(claim).timeout_at
    deadlines = bindings.component(CLAIMS).spec.deadlines
    monkeypatch.setitem(deadlines, "timeout", replace(deadlines["timeout"], lifetime_ms=DAY))
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + 3 * DAY}, id=claim)
    younger = toa.call(f"{TALLIES}.create", {"name": "younger"})["id"]
    toa_clock.run_until_idle()
    assert row(claim).timeout_at == before == to_datetime(toa_clock.now + 7 * DAY)
    assert row(younger).timeout_at == to_datetime(toa_clock.now + DAY)
    toa_clock.advance("6d")
    assert (row(claim).clock_state, row(younger).clock_state) == (None, "closed")


def test_T11_a_timeout_and_a_deadline_at_one_moment(claim, toa_clock):
    put(claim, a=toa_clock.now + 7 * DAY)
    toa_clock.advance(8 * DAY)
    assert row(claim).log == ["a", "timeout"], "by name"
    other = toa.call("components.tallies.create", {"name": "other"})["id"]
    toa_clock.run_until_idle()
    Claim.objects.update(log=[])
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + 7 * DAY + 1}, id=other)
    toa_clock.set(toa_clock.now + 8 * DAY)
    toa_clock.run_until_idle()
    assert row(other).log == ["set", "timeout"], "the time-out ends it: the other never runs"


def test_T12_an_event_before_the_moment_goes_first_and_one_at_it_after(claim, toa_clock):
    moment = toa_clock.now + HOUR
    put(claim, a=moment)
    for offset in (-1, 0, 1):
        toa_clock.set(moment + offset)
        toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    assert row(claim).log == ["updated 1", "a", "updated 2", "updated 3"]


def test_T12_a_stuck_event_holds_the_deadline_two_seconds(claim, toa_clock):
    moment = toa_clock.now + HOUR
    put(claim, a=moment, mode="deaf")
    toa_clock.set(moment - 1)
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    Delivery.objects.filter(receiver=CLAIMS).update(endpoint=f"{CLAIMS}.unknown")
    toa_clock.set(moment)
    toa_clock.run_until_idle()
    assert row(claim).log == []
    toa_clock.advance(1999)
    assert row(claim).log == []
    toa_clock.advance(1)
    assert row(claim).log == ["a"]


def test_T12_an_event_behind_a_deadline_in_back_off_waits_with_it(claim, toa_clock):
    moment = toa_clock.now + HOUR
    put(claim, a=moment, mode="flaky")
    toa_clock.set(moment + 1)
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle(10)
    assert row(claim).log == []
    toa_clock.advance("1m")
    assert row(claim).log == ["a", "updated 1"]
    assert at_a.TRIES == [at_a.TRIES[0]] * 3, "one key"


def test_T14_a_failed_instance_is_brought_up_to_date_in_order(claim, toa_clock):
    other = toa.call("components.tallies.create", {"name": "other"})["id"]
    toa_clock.run_until_idle()
    start = toa_clock.now
    put(claim, a=start, b=start + 2000, mode="broken")
    toa_clock.run_until_idle()
    assert row(claim).clock_state == "failed"
    for offset in (1000, 3000):
        toa_clock.set(start + offset)
        toa.call("components.tallies.add", {"by": 1}, id=claim)
        toa.call("components.tallies.add", {"by": 1}, id=other)
        toa_clock.run_until_idle()
    assert row(claim).log == []
    assert row(other).log[-2:] == ["updated 1", "updated 2"], "other instances are not held"
    toa.call(f"{CLAIMS}.set", {"mode": None}, id=claim)
    assert row(claim).log == ["set"], "people's calls work meanwhile"
    retry(Failure.objects.get().id, by="ann")
    toa_clock.run_until_idle()
    assert row(claim).log == ["set", "a", "updated 1", "b", "updated 2"]
    assert (row(claim).clock_state, row(claim).held_at, row(claim).clock) == (None, None, None)
    assert (Failure.objects.count(), Delivery.objects.count()) == (0, 0)


def test_T14_a_failed_event_stops_its_instance_and_is_the_first_step_of_the_retry(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR, mode="deaf")
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    assert (row(claim).clock_state, Failure.objects.get().source) == ("failed", "delivery")
    toa_clock.advance("2h")
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    toa.call(f"{CLAIMS}.set", {"mode": None}, id=claim)
    retry(Failure.objects.get().id, by="ann")
    toa_clock.run_until_idle()
    assert row(claim).log == ["set", "updated 1", "a", "updated 2"]


def test_T14_a_retry_that_fails_again_is_a_failure_again(claim, toa_clock):
    put(claim, a=toa_clock.now, mode="broken")
    toa_clock.run_until_idle()
    retry(Failure.objects.get().id, by="ann")
    toa_clock.run_until_idle()
    assert (row(claim).clock_state, Failure.objects.count(), row(claim).log) == ("failed", 1, [])


def test_T14_an_instance_whose_id_is_a_number_is_stopped_and_brought_up_to_date_too(toa_clock):
    for source, change, log in (("delivery", {}, ["heard"]), ("deadline", {"a": toa_clock.now}, ["heard", "a"])):
        toa.call(f"{METERS}.set", {"mode": "broken", **change}, id=7)
        toa_clock.run_until_idle()
        failure = Failure.objects.get()
        assert (failure.source, failure.entity) == (source, f"{METERS}:7")
        assert Meter.objects.get().clock_state == "failed"
        toa.call(f"{METERS}.set", {"mode": "whole"}, id=7)
        retry(failure.id, by="ann")
        toa_clock.run_until_idle()
        assert (Meter.objects.get().clock_state, Meter.objects.get().log) == (None, log)


def test_T16_after_a_discard_nothing_runs_by_itself(claim, toa_clock):
    put(claim, a=toa_clock.now, b=toa_clock.now + HOUR, mode="broken")
    toa_clock.run_until_idle()
    toa.call("components.tallies.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    discard(Failure.objects.get().id, by="ann")
    toa_clock.advance("2h")
    assert (row(claim).clock_state, row(claim).log) == ("discarded", [])
    assert (Delivery.objects.count(), History.objects.filter(code="DISCARDED").count()) == (0, 1)
    toa.call(f"{CLAIMS}.set", {}, id=claim)
    assert row(claim).log == ["set"]


def test_T17_a_flaky_transition_keeps_key_and_moment(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR, mode="flaky")
    toa_clock.advance("2h")
    assert row(claim).log == ["a"]
    assert (len(at_a.TRIES), len(set(at_a.TRIES))) == (3, 1)
    assert (row(claim).clock_state, row(claim).held_at, row(claim).clock) == (None, None, None)
    assert Failure.objects.count() == 0


def test_T13_the_history_names_what_set_a_deadline(claim, toa_clock):
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + HOUR}, id=claim)
    toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + 2 * HOUR}, id=claim)
    moved = row(claim).version
    toa_clock.advance("3h")
    reached = Revision.objects.get(component=CLAIMS, entity=claim, reached="a")
    assert reached.endpoint == f"{CLAIMS}.at_a"
    assert reached.cause["set_by"]["version"] == moved
    assert reached.cause["set_by"]["endpoint"] == f"{CLAIMS}.set"


def test_a_revision_says_what_changed_and_whether_the_row_was_changed_outside(claim, toa_clock):
    toa.call(f"{CLAIMS}.set", {"mode": "x"}, id=claim)
    first = Revision.objects.filter(component=CLAIMS, entity=claim).latest("version")
    assert first.changes["mode"] == [None, "x"]
    Claim.objects.filter(id=claim).update(mode="y")
    toa.call(f"{CLAIMS}.set", {"mode": "z"}, id=claim)
    second = Revision.objects.filter(component=CLAIMS, entity=claim).latest("version")
    assert second.outside
    assert second.changes["mode"] == ["y", "z"]
    toa.call(f"{CLAIMS}.set", {"mode": "w"}, id=claim)
    assert not Revision.objects.filter(component=CLAIMS, entity=claim).latest("version").outside


def test_discarding_what_did_not_stop_an_instance_leaves_it_as_it_is(claim, toa_clock):
    put(claim, a=toa_clock.now, mode="broken")
    toa_clock.run_until_idle()
    moment = to_datetime(toa_clock.now)
    other = Failure.objects.create(
        call="0" * 32,
        source="delay",
        endpoint=f"{CLAIMS}.set",
        entity=f"{CLAIMS}:{claim}",
        request={},
        error="of a delay about the same object",
        attempts=1,
        due_at=moment,
        at=moment,
        row={},
    )
    discard(other.id, by="ann")
    assert row(claim).clock_state == "failed"
