from __future__ import annotations

from tests.workflow.conftest import GO, HAIL
from toa import time
from toa.models import Failure, History, Run, RunCall, RunStep


def test_a_run_sleeps_calls_and_returns(voyages):
    voyage = voyages.create()

    async def daily(input, context):
        began = await time.now()
        await time.sleep("20m")
        went = await context.call(GO, {"by": 3}, {"id": voyage})
        hailed = await context.call(HAIL, {"name": "port"})
        return {"began": began, "slept": await time.now() - began, "miles": went.miles, "hailed": hailed}

    began = voyages.clock.now
    run = voyages.run(daily)
    row = voyages.row(run)
    assert row.waits["kind"] == "sleep"
    assert RunStep.objects.filter(run=run).count() == 1
    voyages.after("10m")
    assert voyages.miles(voyage) == 0
    voyages.after("10m")
    ended = voyages.ended(run)
    assert ended.outcome == "made"
    assert ended.result == {
        "began": began,
        "slept": 1_200_000,
        "miles": 3,
        "hailed": {"hailed": "port", "calls": 1},
    }
    assert [step["kind"] for step in ended.steps] == ["now", "sleep", "call", "call", "now"]
    for rows in (Run.objects.filter(id=run), RunStep.objects.filter(run=run), RunCall.objects.filter(run=run)):
        assert not rows.exists()
    assert voyages.miles(voyage) == 3
    assert History.objects.filter(call=run, source="run", outcome="made").count() == 1
    assert not Failure.objects.exists()
