from __future__ import annotations

import time as clocks
from uuid import UUID

from tests.workflow.conftest import GO, HAIL
from toa import retry, time
from toa.cadence.passes import Collected, run_pass
from toa.core.allowance import Allowance
from toa.models import Failure, RunStep
from toa.testing.restarts import restarting
from toa.workflow import actions, driving, rows
from toa.workflow.due import RUNS, workflows
from toa.workflow.machine import Machine
from toa.workflow.opening import opened


def replaced(voyages, name, function):
    """A deploy: what is started under that name is another function from now on."""
    function.__name__ = name
    voyages.script(function)


def test_F11_another_path_than_the_journal_is_a_failure_that_names_both_steps(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        await context.call(GO, {}, {"id": voyage})
        await time.sleep("1h")

    async def other(input, context):
        await context.call(HAIL, {"name": "a"})
        await time.sleep("1h")

    run = voyages.run(sailing)
    replaced(voyages, "sailing", other)
    voyages.after("1h")
    failure = Failure.objects.get()
    assert "Nondeterministic: step 0 was 'call components.voyages.go'" in failure.error
    assert "asks for 'call components.voyages.hail'" in failure.error
    assert voyages.hailed == []
    replaced(voyages, "sailing", sailing)
    actions.retry(UUID(run))
    voyages.clock.run_until_idle()
    assert voyages.ended(run).outcome == "made"
    assert voyages.miles(voyage) == 1


def test_F11_ending_early_and_waiting_for_something_else_are_other_paths(voyages):
    async def sailing(input, context):
        await time.sleep("1h")
        await time.now()

    async def early(input, context):
        return None

    async def elsewhere(input, context):
        await context.call(HAIL, {"name": "a"})

    for number, other in enumerate((early, elsewhere)):
        sailing.__name__ = f"sailing{number}"
        voyages.run(sailing)
        replaced(voyages, f"sailing{number}", other)
        voyages.after("1h")
    errors = [failure.error for failure in Failure.objects.order_by("at")]
    assert "step 0 was 'sleep'" in errors[0]
    assert "ended there" in errors[0]
    assert "step 0 was 'sleep' when it was done, and the function asks for 'call components.voyages.hail'" in errors[1]
    assert voyages.hailed == []


def test_F12_a_deploy_between_two_steps_lets_runs_go_on(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        await context.call(GO, {"note": "old"}, {"id": voyage})
        await time.sleep("1h")
        await context.call(GO, {"note": "never"}, {"id": voyage})

    async def newer(input, context):
        await context.call(GO, {"note": "changed"}, {"id": voyage})
        await time.sleep("2h")
        await context.call(GO, {"note": "new"}, {"id": voyage})
        return "newer"

    run = voyages.run(sailing)
    replaced(voyages, "sailing", newer)
    voyages.after("1h")
    assert voyages.ended(run).result == "newer"
    assert voyages.log(voyage) == ["old", "new"]


def test_a_restart_after_every_step_changes_nothing(voyages, monkeypatch):
    def script(voyage):
        async def mixed(input, context):
            ids = [context.id(), context.random()]
            await time.now()
            for number in range(4):
                await context.call(GO, {"note": [number, context.id()[:4]]}, {"id": voyage})
                await context.call("components.voyages.muse", {"value": number})
                state = await context.call("components.voyages.observe", None, {"id": voyage})
                await context.call(HAIL, {"name": f"{state.miles}"})
                await time.sleep(10)

            async def body():
                await context.call(GO, {"by": 10}, {"id": voyage})
                return await context.call(HAIL, {"name": "home"})

            await retry.exponential(body, attempts=10, first=10)
            return [len(ids), ids[0] != context.id()]

        return mixed

    begun, begin = [], Machine.begin

    def begin_noted(machine, coroutine):
        begun.append(machine)
        begin(machine, coroutine)

    monkeypatch.setattr(Machine, "begin", begin_noted)
    seen, copies = [], []
    for restarts in (False, True):
        voyage = voyages.create()
        voyages.hailed.clear()
        mixed = script(voyage)
        begun.clear()
        with restarting(restarts):
            run = voyages.run(mixed)
            voyages.clock.advance(30)
            voyages.failures += [ValueError("fog"), ValueError("ice")]
            voyages.clock.advance(200)
        ended = voyages.ended(run)
        kinds = [(step["kind"], step["name"], step["outcome"]) for step in ended.steps]
        seen.append((kinds, voyages.miles(voyage), ended.result, [name for name, _ in voyages.hailed]))
        assert len({key for _, key in voyages.hailed}) == 5
        copies.append(len(begun))
    assert seen[0] == seen[1]
    assert copies[1] > copies[0], "another copy of the function for each commit"
    assert seen[0][1:] == (34, [2, True], ["1", "2", "3", "4", "home", "home", "home"])


def test_two_workers_that_wake_one_run_do_each_step_once(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        for number in range(3):
            await context.call(GO, {"note": number}, {"id": voyage})

    run = voyages.start(sailing)
    live = driving_live(run)
    first = driving._Driving(live, None)
    second = driving._Driving(live, None)
    with restarting():
        assert first.go(Allowance(2000, 100)) is driving.Driven.LEFT
    assert second.go(Allowance(2000, 100)) is driving.Driven.MOVED
    assert first.go(Allowance(2000, 100)) is driving.Driven.HELD
    first.close()
    second.close()
    assert voyages.log(voyage) == [0, 1, 2]
    assert voyages.ended(run).outcome == "made"


def driving_live(run):
    (live,) = [live for live in RUNS.due(workflows(), 10, None) if live.id == UUID(run)]
    return live


def test_a_journal_of_a_thousand_steps_is_replayed_in_under_100_ms(voyages):
    async def long(input, context):
        for number in range(1000):
            await context.call("components.voyages.muse", {"value": number})
        await time.sleep("1h")
        return "over"

    run = voyages.run(long)
    row = rows.peek(UUID(run))
    assert row is not None
    assert RunStep.objects.count() == row.steps == 1000
    took = []
    for _ in range(3):
        began = clocks.thread_time()
        machine = opened(row, row.wake or 0)
        machine.advance()
        took.append(clocks.thread_time() - began)
        machine.close()
    assert min(took) < 0.1


def test_a_run_that_is_passed_over_waits_patiently_for_its_entity(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        await context.call(GO, {"note": 1}, {"id": voyage})

    voyages.start(sailing)
    voyages.clock.set(voyages.clock.now + 2000)
    run_pass(Collected(), only={"run"})
    assert voyages.log(voyage) == [1]
