from __future__ import annotations

from uuid import UUID

import pytest

from tests.workflow.conftest import GO, HAIL, SAIL
from toa import time
from toa.cadence.passes import Collected, run_pass
from toa.exceptions import InvalidQuery
from toa.models import RunStep
from toa.workflow import actions, checking, journals, reports


def test_runs_are_listed_and_shown_step_by_step(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        await context.call(GO, {}, {"id": voyage})
        await time.sleep("1h")

    async def hailing(input, context):
        await context.call(HAIL, {"name": "a"})

    async def failing(input, context):
        raise KeyError("x")

    async def watching(input, context):
        await time.watch(time.interval("1m"), lambda moment: None, key="w")

    asleep, waits, failed, watch = (voyages.start(one) for one in (sailing, hailing, failing, watching))
    run_pass(Collected())
    listed = {run.id.hex: reports.state(run, voyages.clock.now) for run in reports.live().runs}
    assert listed == {asleep: "sleeping", waits: "waiting", failed: "failed", watch: "sleeping"}
    for name in ("waiting", "failed"):
        (run,) = reports.live(endpoint=SAIL, state=name).runs
        assert listed[run.id.hex] == name
    assert len(reports.live(state="sleeping").runs) == 2
    first = reports.live(limit=3)
    second = reports.live(limit=3, after=first.after)
    assert len({run.id for run in (*first.runs, *second.runs)}) == 4
    assert second.after is None

    shown = reports.show(UUID(asleep))
    assert shown is not None
    assert [(step.kind, step.outcome) for step in shown.steps] == [("call", "made"), ("sleep", "waits")]
    assert shown.steps[1].value == voyages.clock.now + 3_600_000
    effect = reports.show(UUID(waits)).steps[-1]
    assert (effect.name, effect.outcome) == (HAIL, "waits")
    assert reports.show(UUID(failed)).failure.error == "KeyError: 'x'"
    assert reports.show(UUID(watch)).watches == {"w": voyages.clock.now}
    voyages.after("1h")
    assert {run.id.hex for run in reports.ended().runs} == {asleep, waits}
    assert [step.kind for step in reports.show(UUID(asleep)).steps] == ["call", "sleep"]
    assert len(reports.ended(endpoint=SAIL, outcome="made", limit=1).runs) == 1
    assert reports.ended(outcome="cancelled").runs == ()
    assert reports.show(UUID(int=1)) is None
    for wrong in ({"state": "lost"}, {"limit": 0}, {"after": "x"}):
        with pytest.raises(InvalidQuery):
            reports.live(**wrong)


def test_the_steps_of_a_run_are_read_by_pages_while_it_is_on_its_way_and_after_its_end(voyages, monkeypatch):
    async def musing(input, context):
        for number in range(7):
            await context.call("components.voyages.muse", {"value": "x" * 100 if number == 4 else number})
        await time.sleep("1h")

    run = UUID(voyages.run(musing))

    def pages(limit):
        found, after = [], None
        while not found or after is not None:
            shown = reports.show(run, limit=limit, after=after)
            assert shown is not None
            found.append([step.position for step in shown.steps])
            after = shown.after
        return found

    assert pages(3) == [[0, 1, 2], [3, 4, 5], [6, 7]], "what it waits for is the last step of the last page"
    assert pages(7) == [[0, 1, 2, 3, 4, 5, 6, 7]]
    shown = reports.show(run)
    voyages.after("1h")
    assert pages(3) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert reports.show(run).steps[:7] == shown.steps[:7]
    assert reports.show(run).steps[7].value is None
    assert [reports.steps_done(one) for one in reports.ended().runs] == [8]
    # A step whose value is as large as a page ends one, and has one to itself.
    monkeypatch.setattr(journals, "PAGE_BYTES", 50)
    assert pages(1000) == [[0, 1, 2, 3], [4], [5, 6, 7]]
    for wrong in ({"limit": 0}, {"limit": 1001}, {"after": -1}, {"after": 2**31}):
        with pytest.raises(InvalidQuery):
            reports.show(run, **wrong)


def test_check_tells_which_runs_the_present_code_would_break_and_writes_nothing(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        await context.call(GO, {}, {"id": voyage})
        await time.sleep("1h")
        await context.call(GO, {}, {"id": voyage})

    async def other(input, context):
        await time.sleep("1h")

    broken, holding = voyages.run(sailing), None
    sailing.__name__ = "holding"
    holding = voyages.run(sailing)
    assert all(one.holds for one in checking.check())
    other.__name__ = "sailing"
    voyages.script(other)
    voyages.clock.set(voyages.clock.now + 7_200_000)
    before = list(RunStep.objects.order_by("run", "position").values())
    checked = {one.id.hex: one for one in checking.check(SAIL)}
    assert checked[holding].holds
    assert not checked[broken].holds
    assert "step 0 was 'call components.voyages.go'" in checked[broken].error
    assert list(RunStep.objects.order_by("run", "position").values()) == before
    assert voyages.miles(voyage) == 2
    actions.cancel(UUID(broken))
    assert {one.id.hex for one in checking.check()} == {broken, holding}
