"""Going on with runs in sets: the same outcome as one by one, in few transactions and few statements."""

from __future__ import annotations

import os
import threading
import time as clocks
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

import toa
from tests.cadence.plans import plans_of
from tests.components.seats.models import Seat
from tests.components.voyages.models import Voyage
from tests.nodes import one_pass
from tests.workflow.conftest import GO, HAIL, OBSERVE, Voyages
from toa import Error, time
from toa.cadence.calls import abandoned
from toa.cadence.passes import Collected, run_pass
from toa.models import EndedRun, Failure, History, Run, RunCall, RunStep
from toa.workflow import actions, guarding, sets

pytestmark = pytest.mark.django_db(transaction=True)

TAKE = "components.seats.take"


@pytest.fixture
def voyages(toa_clock, settings, monkeypatch):
    """Whatever the run was asked for: these tests are about sets, and all functions of a pass run in it."""
    settings.TOA = {**settings.TOA, "SETWISE": True}
    monkeypatch.setattr(guarding, "FUNCTIONS_MS", 60_000)
    return Voyages(toa_clock)


def go_on() -> int:
    return run_pass(Collected(), only={"run"}).settled


def test_a_set_takes_as_many_statements_for_forty_runs_as_for_four(voyages):
    async def sailing(input, context):
        began = await time.now()
        await context.call(GO, {"note": 1}, {"id": input.voyage})
        await context.call("components.voyages.muse", {"value": began})
        await context.call(GO, {"note": 2}, {"id": input.voyage})
        return began

    sent = []
    for number in (4, 4, 40):
        for _ in range(number):
            voyages.start(sailing, voyage=voyages.create())
        with CaptureQueriesContext(connection) as captured:
            assert go_on() == number
        sent.append(len(captured))
    assert sent[1] == sent[2]
    assert EndedRun.objects.filter(outcome="made").count() == 48
    assert set(Voyage.objects.values_list("version", flat=True)) == {3}
    assert not RunStep.objects.exists()


def test_runs_of_a_set_that_call_one_entity_each_see_what_the_one_before_left(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        first = await context.call(GO, {"note": input.n}, {"id": voyage})
        second = await context.call(GO, {"note": -input.n}, {"id": voyage})
        return [first.miles, second.miles]

    runs = [voyages.start(sailing, n=number) for number in range(1, 8)]
    assert go_on() == 7
    assert voyages.log(voyage) == [1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, -7]
    assert [voyages.ended(run).result for run in runs] == [[n, n + 7] for n in range(1, 8)]
    assert Voyage.objects.get().version == 15


def test_runs_of_every_kind_in_one_set_end_as_each_would_alone(voyages):
    busy, seats = voyages.create(), [toa.call("components.seats.create")["id"] for _ in range(3)]
    mine = {
        name: voyages.create()
        for name in ("good", "error", "raises", "breaks", "looks", "creates", "effect", "sunk", "text")
    }

    async def mixed(input, context):
        at = {"id": input.voyage}
        await context.call(GO, {}, at)
        match input.how:
            case "error":
                return (await context.call(GO, {"fail": "error"}, at)).code
            case "raises":
                await context.call(GO, {"fail": "reef"}, at)
            case "breaks":
                raise ValueError("fog")
            case "looks":
                return (await context.call(OBSERVE, None, at)).miles
            case "effect":
                return (await context.call(HAIL, {"name": "a"})).hailed
            case "creates":
                made = await context.call("components.voyages.create")
                return (await context.call(GO, {"by": 3}, {"id": made.id})).miles
            case "sleeps":
                await time.sleep("1h")
            case "sunk":
                return Error("SUNK")
            case "text":
                return {1, 2}
        return "good"

    async def taking(input, context):
        await context.call(TAKE, {"label": "one"}, {"id": input.seat})

    runs = {how: voyages.start(mixed, how=how, voyage=voyage) for how, voyage in mine.items()}
    taken = [voyages.start(taking, seat=seat) for seat in seats]
    lost = voyages.start(mixed, how="good", voyage="0" * 32)
    cancelled = voyages.start(mixed, how="sleeps", voyage=busy)
    go_on()
    assert actions.cancel(UUID(cancelled)) == "being cancelled"
    voyages.clock.run_until_idle()

    ended = {run.id.hex: (run.outcome, run.result, run.error) for run in EndedRun.objects.all()}
    assert ended[runs["good"]] == ("made", "good", "")
    assert ended[runs["error"]] == ("made", "ASHORE", "")
    assert ended[runs["looks"]] == ("made", 1, "")
    assert ended[runs["creates"]] == ("made", 3, "")
    assert ended[runs["effect"]] == ("made", "a", "")
    assert (ended[runs["sunk"]][0], ended[runs["sunk"]][2]) == ("refused", "SUNK")
    assert ended[cancelled][0] == "cancelled"
    failed = {run.hex for run in Run.objects.filter(failed_at__isnull=False).values_list("id", flat=True)}
    assert failed - set(taken) == {runs["raises"], runs["breaks"], runs["text"], lost}
    assert len(failed & set(taken)) == 2 and Seat.objects.filter(label="one").count() == 1
    assert Failure.objects.count() == 6
    assert {voyages.miles(voyage) for voyage in mine.values()} == {1}
    assert not RunCall.objects.exists()
    assert History.objects.filter(source="run", outcome="failed").count() == 6


@pytest.mark.parametrize("in_sets", [True, False])
def test_a_refusal_by_the_database_undoes_the_set_and_nobody_loses_a_step(voyages, settings, in_sets):
    settings.TOA = {**settings.TOA, "SETWISE": in_sets}
    seats = [toa.call("components.seats.create")["id"] for _ in range(3)]
    toa.call(TAKE, {"label": "gone"}, id=seats[0])

    async def taking(input, context):
        await context.call(TAKE, {"mark": 1}, {"id": input.seat})
        try:
            await context.call(TAKE, {"label": input.label}, {"id": input.seat})
        except toa.exceptions.Conflict as conflict:
            return type(conflict).__name__
        return "taken"

    refused = voyages.start(taking, seat=seats[1], label="gone")
    good = voyages.start(taking, seat=seats[2], label="free")
    voyages.clock.run_until_idle()
    assert (voyages.ended(refused).result, voyages.ended(good).result) == ("Conflict", "taken")
    taken = {seat.id.hex: (seat.marks, seat.label) for seat in Seat.objects.all()}
    assert [taken[seat] for seat in seats] == [([None], "gone"), ([1], None), ([1, None], "free")]


def test_an_entity_that_is_held_holds_up_its_run_alone(voyages):
    held, free = voyages.create(), voyages.create()

    async def sailing(input, context):
        await context.call(GO, {}, {"id": input.voyage})

    waits, goes = voyages.start(sailing, voyage=held), voyages.start(sailing, voyage=free)
    has_it, let_go = threading.Event(), threading.Event()

    def person() -> None:
        with transaction.atomic():
            Voyage.objects.select_for_update().get(id=UUID(held))
            has_it.set()
            let_go.wait(10)
        connections.close_all()

    thread = threading.Thread(target=person)
    thread.start()
    has_it.wait(10)
    step = run_pass(Collected(), only={"run"})
    assert (step.settled, step.locked) == (1, 1)
    assert voyages.ended(goes).outcome == "made"
    voyages.clock.set(voyages.clock.now + 1_500)
    threading.Timer(0.04, let_go.set).start()
    assert go_on() == 1
    thread.join()
    assert voyages.ended(waits).outcome == "made"


def test_a_run_that_hangs_or_kills_in_a_set_is_a_failure_and_the_others_are_made(voyages, monkeypatch):
    async def deadly(input, context):
        os._exit(9)

    async def harmless(input, context):
        await context.call(GO, {}, {"id": input.voyage})

    good = [voyages.start(harmless, voyage=voyages.create()) for _ in range(3)]
    bad = voyages.start(deadly)
    good += [voyages.start(harmless, voyage=voyages.create()) for _ in range(3)]
    for _ in range(8):
        assert one_pass() in (9, 0)
    assert voyages.row(bad).failed_at is not None
    assert {voyages.ended(run).outcome for run in good} == {"made"}
    assert set(Voyage.objects.values_list("miles", flat=True)) == {1}
    assert Failure.objects.get().error == "StepFailed: the process died running it"

    monkeypatch.setattr(guarding, "FUNCTION_MS", 100)

    async def hanging(input, context):
        while True:
            clocks.monotonic()

    good = [voyages.start(harmless, voyage=voyages.create()) for _ in range(3)]
    bad = voyages.start(hanging)
    good += [voyages.start(harmless, voyage=voyages.create()) for _ in range(3)]
    for _ in range(4):
        go_on()
    assert voyages.row(bad).failed_at is not None
    assert {voyages.ended(run).outcome for run in good} == {"made"}


def test_what_a_process_died_over_as_one_of_many_goes_on_in_smaller_sets(voyages, monkeypatch):
    monkeypatch.setattr(abandoned, "SHARE", 4)

    async def deadly(input, context):
        os._exit(9)

    async def harmless(input, context):
        await context.call(GO, {}, {"id": input.voyage})

    good = [voyages.start(harmless, voyage=voyages.create()) for _ in range(6)]
    bad = voyages.start(deadly)
    good += [voyages.start(harmless, voyage=voyages.create()) for _ in range(5)]
    ended = []
    while not Failure.objects.exists():
        ended.append((one_pass(), EndedRun.objects.count()))
    # All of them; the share that it is in, after the one behind it; alone, after the one behind it.
    assert ended == [(9, 0), (9, 4), (9, 5), (0, 11)]
    assert voyages.row(bad).failed_at is not None
    assert {voyages.ended(run).outcome for run in good} == {"made"}
    assert set(Voyage.objects.values_list("miles", flat=True)) == {1}


def test_a_set_reads_so_many_steps_at_most_and_what_has_more_goes_on_alone(voyages, monkeypatch):
    monkeypatch.setattr(sets, "MOST_STEPS", 10)

    async def long(input, context):
        for number in range(4):
            await context.call("components.voyages.muse", {"value": number})
        await time.sleep("1h")
        return input.n

    runs = [voyages.start(long, n=number) for number in range(5)]
    go_on()
    assert RunStep.objects.count() == 20
    voyages.clock.set(voyages.clock.now + 3_600_000)
    with CaptureQueriesContext(connection) as captured:
        assert go_on() == 5
    assert [voyages.ended(run).result for run in runs] == [0, 1, 2, 3, 4]
    # Two of them fit; the others read their journals alone.
    assert sum(one["sql"].startswith("SELECT position") for one in captured.captured_queries) == 3


def test_watches_that_are_due_together_are_delivered_together(voyages):
    began, mine = voyages.clock.now, {}

    async def watching(input, context):
        async def deliver(moment):
            await context.call(GO, {"note": moment}, {"id": input.voyage})

        await time.watch(time.interval("10s"), deliver)

    for _ in range(10):
        voyage = voyages.create()
        mine[voyages.start(watching, voyage=voyage)] = voyage
    go_on()
    for number in (1, 2):
        voyages.clock.set(began + number * 10_000)
        with CaptureQueriesContext(connection) as captured:
            assert go_on() == 10
        assert len(captured) < 40
    for run, voyage in mine.items():
        assert voyages.log(voyage) == [began + 10_000, began + 20_000]
        assert voyages.row(run).steps == 1


def test_a_run_that_goes_on_alone_has_its_turn_beside_sets_that_use_up_the_time(voyages, monkeypatch):
    monkeypatch.setattr(guarding, "FUNCTIONS_MS", 2)

    async def broken(input, context):
        raise ValueError("fog")

    async def slow(input, context):
        began = clocks.perf_counter()
        while clocks.perf_counter() - began < 0.002:
            pass

    alone = voyages.start(broken)
    for _ in range(5):
        voyages.start(slow)
    go_on()
    assert voyages.row(alone).failed_at is not None
    assert EndedRun.objects.count() in (0, 1)


def test_slow_functions_before_transitions_leave_time_for_these(voyages, monkeypatch):
    monkeypatch.setattr(guarding, "FUNCTIONS_MS", 8)

    async def slow(input, context):
        began = clocks.perf_counter()
        while clocks.perf_counter() - began < 0.005:
            pass
        await context.call(GO, {}, {"id": input.voyage})

    for _ in range(5):
        voyages.start(slow, voyage=voyages.create())
    for _ in range(5):
        assert go_on() >= 1
    assert EndedRun.objects.count() == 5


_SLEEPING = """
INSERT INTO toa_run (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, created_at, key, seq,
                     steps, waits, watches, cancel_by)
SELECT gen_random_uuid(), endpoint, request, due_at, wake_at + interval '1 year', 0, 0, chain, cause, created_at, key,
       1, steps, waits, '{}', '' FROM toa_run, generate_series(1, 20000)
"""
_STEPS = """
INSERT INTO toa_runstep (run, position, kind, name, outcome, value, at)
SELECT r.id, s.position, s.kind, s.name, s.outcome, s.value, s.at FROM toa_runstep s, toa_run r WHERE r.id <> s.run
"""


def test_a_set_among_many_that_sleep_reads_no_table_from_end_to_end(voyages, monkeypatch):
    monkeypatch.setattr(connection.features, "uses_server_side_binding", True)  # each statement by itself

    async def sailing(input, context):
        await context.call("components.voyages.muse", {"value": 1})
        await time.sleep("1h")
        await context.call(GO, {}, {"id": input.voyage})
        await time.sleep("1h")

    voyages.start(sailing, voyage=voyages.create())
    go_on()
    with connection.cursor() as cursor:
        cursor.execute(_SLEEPING)
        cursor.execute(_STEPS)
        cursor.execute("ANALYZE toa_run, toa_runstep")
    for _ in range(20):
        voyages.start(sailing, voyage=voyages.create())
    go_on()
    voyages.clock.set(voyages.clock.now + 3_600_000)
    plans = plans_of(go_on)
    assert sum("toa_run" in plan.sql for plan in plans) >= 5
    for plan in plans:
        assert not plan.scanned("toa_run") and not plan.scanned("toa_runstep"), plan.sql
