"""Schedules and many processes at once, as threads with connections of their own."""

import random

import pytest

import toa
from tests.cadence.calendar import HOUR, SECOND, STAMP
from tests.cadence.conftest import NODES
from tests.components.almanacs.models import Almanac
from tests.components.almanacs.operations import note
from toa.cadence.actions import operating
from toa.cadence.passes import Collected, perform
from toa.cadence.schedules.due import SCHEDULES
from toa.core.clock import to_moment
from toa.models import Failure, History, Schedule, ScheduledCall

pytestmark = pytest.mark.django_db(transaction=True)


def turn(_):
    """What a worker does about schedules: a step, and the calls that it is told of."""
    hints = Collected()
    SCHEDULES.step(100, hints)
    for hint in hints.hints:
        perform(hint)


def called():
    return [call["at"] for call in note.CALLS]


def test_ten_workers_call_each_occurrence_once(calendar, toa_clock, nodes):
    calendar.declare({"name": "a", "schedule": "0 * * * *"}, {"name": "b", "schedule": "0 * * * *"})
    start = toa_clock.now
    for number in range(1, 31):
        toa_clock.set(start + number * HOUR)
        list(nodes.map(turn, range(NODES)))
        # A hint that came while another node held the row is lost, which costs a second.
        toa_clock.set(toa_clock.now + SECOND)
        turn(0)
    assert sorted(called()) == sorted([start + number * HOUR for number in range(1, 31)] * 2)
    assert len({call["key"] for call in note.CALLS}) == 60
    assert History.objects.filter(outcome="made", source="schedule").count() == 60


def test_ten_workers_sweep_each_object_once(calendar, toa_clock, nodes):
    calendar.declare(endpoint=STAMP, schedule="0 * * * *", query={"criteria": "open==true;until<$now", "limit": 100})
    for number in range(30):
        toa.call("components.almanacs.create", {"until": toa_clock.now + number + 30})
    toa_clock.set(toa_clock.now + HOUR)
    for _ in range(4):
        list(nodes.map(turn, range(NODES)))
    toa_clock.advance(2 * SECOND)
    assert set(Almanac.objects.values_list("open", "seen", "version")) == {(False, 2, 2)}
    assert History.objects.filter(code="30 found").count() == 1
    assert (ScheduledCall.objects.count(), Failure.objects.count()) == (0, 0)


def test_S16_workers_and_people_at_once_block_nobody_and_call_no_occurrence_twice(calendar, toa_clock, nodes):
    calendar.declare(schedule="*/5 * * * * *", overlap="buffer")
    chance = random.Random(5)

    def act(_):
        row = Schedule.objects.get(endpoint="components.almanacs.note")
        return chance.choice([operating.pause, operating.resume, operating.resume, operating.fire])(row, "anna")

    answers = []
    for number in range(60):
        toa_clock.set(toa_clock.now + SECOND)
        working = [nodes.submit(turn, number) for _ in range(4)]
        acting = [nodes.submit(act, number) for _ in range(2)]
        if number % 10 == 5:
            calendar.declare(schedule="*/5 * * * * *", overlap=["buffer", "skip"][number % 20 // 10])
        answers += [one.result(timeout=60) for one in acting]
        assert [one.result(timeout=60) for one in working] == [None] * 4
    assert {"paused", "resumed", "fired"} <= set(answers)
    fired = {to_moment(line.due_at) for line in History.objects.filter(cause__has_key="asked_by")}
    planned = [moment for moment in called() if moment not in fired]
    assert planned
    assert len(set(planned)) == len(planned)
