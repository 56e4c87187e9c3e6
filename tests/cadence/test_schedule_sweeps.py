"""Declared sweeps on schedules: each object that is found is called once for the occurrence, whatever fails."""

import pytest
from django.db import connection

import toa
from tests.cadence.calendar import HOUR, MINUTE, STAMP
from tests.components.almanacs.models import Almanac
from toa.cadence.actions import operating
from toa.cadence.passes import Collected, run_pass
from toa.cadence.schedules.occurring import reach
from toa.core.clock import to_datetime, to_moment
from toa.models import Failure, History, Schedule, ScheduledCall
from toa.runtime import bindings

pytestmark = pytest.mark.django_db


def made(now, *offsets):
    """Almanacs that are due so many ms after a moment; their ids."""
    return [toa.call("components.almanacs.create", {"until": now + offset})["id"] for offset in offsets]


def closed():
    return {row.id.hex for row in Almanac.objects.filter(open=False)}


def found():
    lines = History.objects.filter(source="schedule", entity__startswith="schedule:").order_by("id")
    return list(lines.values_list("outcome", "code"))


@pytest.fixture
def hourly(calendar):
    calendar.declare(endpoint=STAMP, schedule="0 * * * *", zone="Europe/Berlin")
    return calendar


def test_each_object_that_is_due_is_called_once_oldest_first_up_to_the_limit(hourly, toa_clock):
    now = toa_clock.now
    ids = made(now, 50, 10, 30, 20, 40)
    later = made(now, 99 * HOUR)[0]
    toa_clock.advance(HOUR)
    assert closed() == {ids[1], ids[3], ids[2]}
    assert found() == [("made", "3 found")]
    lines = History.objects.filter(entity__startswith="components.almanacs:").order_by("id")
    assert [line.entity.partition(":")[2] for line in lines] == [ids[1], ids[3], ids[2]]
    assert {(line.outcome, to_moment(line.due_at)) for line in lines} == {("made", toa_clock.now)}
    toa_clock.advance(HOUR)
    assert closed() == set(ids)
    assert set(Almanac.objects.filter(open=False).values_list("seen", "version")) == {(2, 2)}
    assert not closed() & {later}


def test_an_occurrence_that_finds_nobody_leaves_its_line(hourly, toa_clock):
    toa_clock.advance(HOUR)
    assert found() == [("made", "0 found")]
    assert ScheduledCall.objects.count() == 0


def test_one_that_fails_is_a_failure_of_its_own_and_does_not_stop_the_rest(hourly, toa_clock):
    now = toa_clock.now - toa_clock.now % 1000
    stubborn, broken, sound = made(now, 7, 13, 20)
    toa_clock.advance(HOUR)
    assert closed() == {sound}
    failure = Failure.objects.get()
    assert (failure.source, failure.entity) == ("schedule", f"components.almanacs:{broken}")
    refused = History.objects.get(outcome="refused")
    assert (refused.code, refused.entity) == ("STUBBORN", f"components.almanacs:{stubborn}")


def test_an_object_that_fails_for_a_while_is_called_again_for_the_same_occurrence(hourly, toa_clock, monkeypatch):
    (identity,) = made(toa_clock.now, 1)
    tries = []

    def transition(input, entry, context):
        tries.append((context.due, context.key))
        if len(tries) < 3:
            raise ConnectionError("for a while")
        entry.open = False

    monkeypatch.setitem(vars(bindings.operation(STAMP)), "function", transition)
    toa_clock.advance(HOUR + 20_000)
    assert len(tries) == 3
    assert len(set(tries)) == 1
    assert closed() == {identity}


def test_the_criteria_are_looked_at_again_under_the_rows_lock(hourly, toa_clock):
    (identity,) = made(toa_clock.now, 1)
    toa_clock.set(toa_clock.now + HOUR)
    Schedule.objects.exclude(endpoint=STAMP).update(wake_at=None)
    reach([STAMP], 100, Collected())
    Almanac.objects.filter(id=identity).update(until=to_datetime(toa_clock.now + HOUR))
    toa_clock.run_until_idle()
    assert closed() == set()
    line = History.objects.get(entity=f"components.almanacs:{identity}")
    assert (line.outcome, line.code) == ("refused", "NOT_FOUND")


def test_while_objects_of_the_last_occurrence_are_called_the_next_one_is_skipped(hourly, toa_clock):
    made(toa_clock.now, 1)
    toa_clock.set(toa_clock.now + HOUR)
    ScheduledCall.objects.create(
        endpoint="components.almanacs.gone",
        request={},
        due_at=to_datetime(0),
        wake_at=None,
        created_at=to_datetime(0),
        schedule=hourly.row(STAMP).id,
        at=to_datetime(0),
        entity="components.almanacs:1",
    )
    run_pass(Collected())
    assert closed() == set()
    assert [outcome for outcome, _, _ in hourly.history()] == ["skipped"]


def test_what_it_asks_of_may_be_gone_from_the_entity_and_nobody_else_waits(hourly, toa_clock):
    made(toa_clock.now, 1)
    Schedule.objects.filter(endpoint=STAMP).update(query={"criteria": "colour==red", "limit": 3})
    toa_clock.advance(HOUR)
    ((outcome, code),) = found()
    assert outcome == "failed"
    assert code.startswith("InvalidQuery: ")
    assert hourly.row(STAMP).wake_at is None


def test_a_sweep_that_the_database_cannot_answer_is_tried_again_later(hourly, toa_clock):
    (identity,) = made(toa_clock.now, 1)
    table = Almanac._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
    toa_clock.set(toa_clock.now + HOUR)
    assert run_pass(Collected()).full is False
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    toa_clock.advance(MINUTE)
    assert closed() == {identity}
    assert found() == [("made", "1 found")]


def test_fired_by_hand_it_sweeps_now(hourly, toa_clock):
    (identity,) = made(toa_clock.now, 1)
    toa_clock.advance(MINUTE)
    assert operating.fire(hourly.row(STAMP), "anna") == "fired"
    toa_clock.run_until_idle()
    assert closed() == {identity}
    assert found() == [("made", "1 found")]
    assert History.objects.get(entity__startswith="schedule:").cause["asked_by"] == "anna"


def test_a_pause_withdraws_objects_that_were_not_called_yet(hourly, toa_clock):
    made(toa_clock.now, 1, 2)
    toa_clock.set(toa_clock.now + HOUR)
    reach([STAMP], 100, Collected())
    assert ScheduledCall.objects.count() == 2
    operating.pause(hourly.row(STAMP), "anna")
    toa_clock.run_until_idle()
    assert closed() == set()
    cancelled = History.objects.filter(outcome="cancelled")
    assert {(line.code, line.entity.partition(":")[0]) for line in cancelled} == {
        ("paused by anna", "components.almanacs")
    }
