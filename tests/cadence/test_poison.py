"""Calls that raise, hang, kill, eat memory, are unknown or unfit: each ends as a failure, and holds up nobody else."""

import os
import signal
from collections import Counter
from uuid import UUID

import pytest
from django.db import connection

import toa
from tests.components.hazards.models import Hazard
from tests.nodes import node, one_pass
from toa.cadence import sessions
from toa.cadence.calls import guarding
from toa.cadence.calls.abandoned import SHARE
from toa.cadence.calls.settling import DIED
from toa.cadence.deadlines import due as deadlines
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.source import Hint
from toa.models import Delay, Failure, History, Process

pytestmark = pytest.mark.django_db(transaction=True)

HAZARDS = "components.hazards"
MANY_PASSES = 12
FUNCTION_MS = 400
DEATH = {"exit": 1, "kill": -signal.SIGKILL}
MEMORY = 1 << 25
"""Bytes that a node may add to what it has when it starts."""


@pytest.fixture
def hazard(toa_clock):
    """Makes hazards; gives their ids."""

    def make(**given):
        return toa.call(f"{HAZARDS}.create", given)["id"]

    return make


@pytest.fixture
def brief(monkeypatch):
    """Functions have less time than in production, so that a hanging one does not hold up the tests."""
    monkeypatch.setattr(guarding, "FUNCTION_MS", FUNCTION_MS)
    monkeypatch.setattr(deadlines, "FUNCTION_MS", FUNCTION_MS)


def touch(identity, mode="well"):
    """Arm a call due at once; its id."""
    return toa.delay(f"{HAZARDS}.touch", {"query": {"id": identity}, "input": {"mode": mode}}, interval=0, overdue=None)


def outcome(call):
    return list(History.objects.filter(call=call).values_list("outcome", "attempt"))


def passes_until(done, memory=None):
    """Let nodes make passes, one dying after another, until it is so; the exit statuses."""
    ended = []
    while not done():
        assert len(ended) < MANY_PASSES, ended
        ended.append(one_pass(memory))
    return ended


POISON = {
    "raise": "ValueError: poison",
    "exit": DIED,
    "kill": DIED,
    "hang": f"took longer than {FUNCTION_MS} ms",
    "memory": "MemoryError",
}


@pytest.mark.parametrize("mode", ["exit", "kill", "hang"])
@pytest.mark.usefixtures("brief")
def test_D16_the_good_one_is_made_in_the_pass_after_the_first_death(hazard, mode):
    poison, good = touch(hazard(), mode), touch(hazard())
    one_pass(MEMORY)
    one_pass(MEMORY)
    assert outcome(good) == [("made", 1)]
    ended = passes_until(Failure.objects.exists)
    assert ended == ([0] if mode == "hang" else [DEATH[mode], 0])
    assert (Failure.objects.get().call.hex, Failure.objects.get().error) == (poison, POISON[mode])


def test_D16_many_that_a_process_died_over_are_tried_again_in_sets_that_put_few_in_danger(settings, hazard):
    """Whoever kills a worker leaves hundreds of calls, nearly all of them blameless."""
    settings.TOA = {**settings.TOA, "SETWISE": True}
    for _ in range(30):
        touch(hazard())
    poison = touch(hazard(), "kill")
    for _ in range(SHARE + 10):
        touch(hazard())
    ended = []
    while not Failure.objects.exists():
        ended.append((one_pass(), History.objects.filter(outcome="made").count()))
    # The set of all; the share that the poison is in, after the one without it; the poison, after those behind it.
    assert ended == [(DEATH["kill"], 0), (DEATH["kill"], SHARE), (DEATH["kill"], SHARE + 10), (0, SHARE + 40)]
    assert Failure.objects.get().call.hex == poison
    assert not Delay.objects.exists()
    assert not Process.objects.exclude(running=[]).exists()


@pytest.mark.usefixtures("brief")
def test_D16_all_poisons_at_the_head_are_failures_after_their_tries_and_the_good_one_is_made(hazard):
    poisoned = {mode: touch(hazard(), mode) for mode in POISON}
    well = hazard()
    good = touch(well)
    ended = []
    while not outcome(good):
        ended.append(one_pass(MEMORY))
    # Each killed one process, and came last from then on: in a set nobody comes to the second. The pass that made the
    # good one may have died after it.
    assert [status for status in ended[:-1] if status] in ([DEATH["exit"], DEATH["kill"]], [DEATH["exit"]])
    ended += passes_until(lambda: Failure.objects.count() == len(POISON))
    deaths = Counter(status for status in ended if status)
    # Who stood in a set with the one that killed it has a strike for that.
    assert deaths.keys() == set(DEATH.values())
    assert deaths[DEATH["exit"]] == 3 >= deaths[DEATH["kill"]] >= 2
    for mode, call in poisoned.items():
        failure = Failure.objects.get(call=call)
        assert failure.error.startswith(POISON[mode])
        assert failure.source == "delay"
        assert outcome(call) == [("failed", 1)]
    assert outcome(good) == [("made", 1)]
    assert Hazard.objects.get(id=well).count == 1
    assert not Hazard.objects.exclude(id=well).exclude(count=0).exists()
    assert Delay.objects.count() == 0
    assert not Process.objects.exclude(running=[]).exists()


@pytest.mark.usefixtures("brief")
def test_D16_poisoned_deadlines_stop_their_instances_alone(hazard, toa_clock):
    moment = toa_clock.now + 1000
    poisoned = {mode: hazard(mode=mode, moment=moment) for mode in POISON}
    well = hazard(moment=moment)
    toa_clock.set(moment)
    ended = []
    while not Hazard.objects.get(id=well).count:
        ended.append(one_pass(MEMORY))
    assert ended[0] in DEATH.values()
    assert sorted(filter(None, ended)) in (sorted(DEATH.values()), [ended[0]]), "in a set nobody comes to the second"
    while Failure.objects.count() < len(POISON):
        assert len(ended) < 2 * MANY_PASSES, ended
        toa_clock.set(toa_clock.now + 60_000)
        ended.append(one_pass(MEMORY))
    deaths = Counter(status for status in ended if status)
    # A death in a set counts against nobody: it is not known whose fault it was.
    assert sorted(deaths.values()) in ([3, 3], [3, 4])
    for mode, identity in poisoned.items():
        row = Hazard.objects.get(id=identity)
        assert (row.clock_state, row.count) == ("failed", 0)
        failure = Failure.objects.get(entity=f"{HAZARDS}:{identity}")
        assert POISON[mode] in failure.error
        assert failure.attempts == (1 if mode in ("raise", "memory") else 3)
    row = Hazard.objects.get(id=well)
    assert (row.clock_state, row.count, row.moment) == (None, 1, None)
    assert not Process.objects.exclude(running=[]).exists()


def test_D16_unfit_requests_written_by_sql_are_failures_and_hold_up_nobody(hazard):
    well = hazard()
    unfit = [touch(well) for _ in range(6)]
    good = touch(well)
    for call, request in zip(
        unfit,
        [
            {"input": {"mode": 7}, "query": {"id": well}},
            {"input": {}, "query": {"id": "no id at all"}},
            {"input": {}, "query": {"colour": "red"}},
            {"input": {}},
            ["a", "list"],
            "text",
        ],
        strict=True,
    ):
        Delay.objects.filter(id=call).update(request=request)
    with connection.cursor() as cursor:  # as somebody might write it who types an interval
        cursor.execute("UPDATE toa_delay SET wake_at = wake_at - interval '1.234567 ms', due_at = wake_at")
    assert one_pass() == 0
    assert outcome(good) == [("made", 1)]
    assert sorted(Failure.objects.values_list("call", flat=True)) == sorted(map(UUID, unfit))
    assert Delay.objects.count() == 0
    assert all(Failure.objects.values_list("error", flat=True))


@pytest.mark.parametrize("mode", ["exit", "kill"])
def test_D16_an_effect_that_kills_its_process_is_a_failure_after_three_lapses(hazard, toa_clock, mode):
    call = venture(hazard(), mode)
    deaths = 0
    while not Failure.objects.exists():
        assert deaths < MANY_PASSES
        one_pass()
        with node(lambda: perform(Hint("delay", f"{HAZARDS}.venture"))) as worker:
            deaths += worker.end() != 0
        toa_clock.set(toa_clock.now + 3_000)
    assert deaths == 3
    assert Failure.objects.get().error == DIED
    assert outcome(call) == [("failed", 1)]


def test_D19_a_worker_frozen_past_its_lease_writes_nothing_when_it_wakes(hazard, toa_clock):
    identity = hazard()
    call = venture(identity, "freeze")
    run_pass(Collected())
    with node(lambda: perform(Hint("delay", f"{HAZARDS}.venture"))) as frozen:
        frozen.frozen()
        assert Delay.objects.get().token is not None
        Delay.objects.update(request={"input": {"id": identity}})  # the next run does not freeze
        toa_clock.set(toa_clock.now + 2_001)
        toa_clock.run_until_idle()
        assert outcome(call) == [("made", 1)]
        before = (Hazard.objects.values_list("count", "version").get(), list(History.objects.values_list("id")))

        frozen.wake()
        assert frozen.end() == 0
    assert before == (Hazard.objects.values_list("count", "version").get(), list(History.objects.values_list("id")))
    assert before[0] == (1, 2)
    assert not Failure.objects.exists()


def test_D19_a_worker_frozen_past_its_lease_that_calls_nothing_settles_nothing(hazard, toa_clock):
    """Nobody has run it again yet: the lease has lapsed, and the call waits for its next run."""
    call = venture(hazard(), "freeze")
    run_pass(Collected())
    with node(lambda: perform(Hint("delay", f"{HAZARDS}.venture"))) as frozen:
        frozen.frozen()
        toa_clock.set(toa_clock.now + 2_001)
        run_pass(Collected())
        assert Delay.objects.values_list("token", "strikes").get() == (None, 1)
        frozen.wake()
        assert frozen.end() == 0
    assert outcome(call) == []
    assert Hazard.objects.get().count == 0


def venture(identity, mode):
    return toa.delay(f"{HAZARDS}.venture", {"input": {"id": identity, "mode": mode}}, interval=0, overdue=None)


@pytest.mark.parametrize("silence", ["1s", pytest.param("10s", marks=pytest.mark.slow)])
def test_D19_the_locks_of_a_worker_frozen_inside_a_pass_end_by_themselves(hazard, monkeypatch, silence):
    assert sessions._SETTINGS["idle_in_transaction_session_timeout"] == "10s"
    monkeypatch.setitem(sessions._SETTINGS, "idle_in_transaction_session_timeout", silence)
    identity = hazard()
    call = touch(identity, "freeze")
    with node(lambda: run_pass(Collected())) as frozen:
        frozen.frozen()
        began = os.times().elapsed
        assert one_pass() == 0
        assert outcome(call) == []  # its row is held
        Delay.objects.update(request={"query": {"id": identity}, "input": {}})
        toa.call(f"{HAZARDS}.touch", {}, id=identity)  # a person waits until the locks are gone
        assert os.times().elapsed - began <= 15
        assert Hazard.objects.get().count == 1
        assert one_pass() == 0
        assert outcome(call) == [("made", 1)]
        made = Hazard.objects.values_list("count", "version").get()

        frozen.wake()
        assert frozen.end() == 0
    assert Hazard.objects.values_list("count", "version").get() == made == (2, 3)
    assert outcome(call) == [("made", 1)]


@pytest.mark.parametrize("mode", ["unkeepable", "mute"])
@pytest.mark.parametrize("setwise", [True, False])
def test_an_error_that_no_database_can_keep_is_a_failure_all_the_same(hazard, toa_clock, settings, mode, setwise):
    settings.TOA = {**settings.TOA, "SETWISE": setwise}
    for _ in range(2):
        touch(hazard(), mode)
        hazard(mode=mode, moment=toa_clock.now)
        toa.send(f"{HAZARDS}.venture", {"input": {"id": hazard(), "mode": mode}})
    toa_clock.run_until_idle()
    said = {"unkeepable": "ValueError: half a pair ?, and a NUL \ufffd", "mute": "Mute: (its __str__ raises)"}
    assert Counter(Failure.objects.values_list("source", "error")) == {
        (source, said[mode]): 2 for source in ("delay", "deadline", "send")
    }
    assert not Delay.objects.exists()
