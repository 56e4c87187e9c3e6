from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import transaction

import toa
from tests.components.voyages.operations import tide
from tests.workflow.conftest import GO, HAIL, SAIL
from toa import time
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.pulses import due
from toa.cadence.reports import status
from toa.cadence.reports.health import judge
from toa.cadence.sources import ORPHANS
from toa.core.clock import to_datetime
from toa.exceptions import InvalidInput
from toa.models import Delay, Delivery, EndedRun, Failure, History, Pulse, Run, ScheduledCall

TIDE = "components.voyages.tide"


def test_a_delay_of_a_workflow_starts_a_run_under_its_key(voyages):
    voyage = voyages.create()

    async def heaved(input, context):
        await context.call(GO, {}, {"id": voyage})

    voyages.script(heaved)
    toa.call("components.voyages.heave", {"interval": 500}, id=voyage)
    call = Delay.objects.get(endpoint=SAIL).id
    voyages.after(1000)
    ended = EndedRun.objects.get()
    assert ended.key == call.hex
    assert ended.cause["call"] == call.hex
    assert voyages.miles(voyage) == 1
    assert set(History.objects.filter(call__in=[call, ended.id]).values_list("source", "outcome")) == {
        ("delay", "made"),
        ("run", "made"),
    }


def test_an_event_starts_one_run_for_each_time_that_it_happened(voyages):
    voyage = voyages.create()

    async def landed(input, context):
        await context.call(GO, {"by": 10}, {"id": input.voyage})

    voyages.script(landed)
    for note in ("reef", "landfall", "reef", "landfall"):
        toa.call(GO, {"note": note}, id=voyage)
    events = set(Delivery.objects.values_list("id", flat=True))
    assert len(events) == 2
    assert not Run.objects.exists()
    with transaction.atomic():
        toa.call(GO, {"note": "landfall"}, id=voyage)
        transaction.set_rollback(True)
    assert set(Delivery.objects.values_list("id", flat=True)) == events, "what did not happen starts nothing"
    for _ in range(3):
        run_pass(Collected(), only={"delivery"})
    assert {row.key for row in Run.objects.all()} == {identity.hex for identity in events}
    voyages.clock.run_until_idle()
    assert voyages.miles(voyage) == 4 + 20
    ended = EndedRun.objects.all()
    assert {(run.cause["source"], run.cause["call"]) for run in ended} == {("delivery", one.hex) for one in events}
    assert Counter(History.objects.filter(call__in=events).values_list("source", "outcome")) == {
        ("delivery", "made"): 2
    }


def test_calls_of_schedules_start_runs_too(voyages):
    async def heaved(input, context):
        return "heaved"

    voyages.script(heaved)
    moment = to_datetime(voyages.clock.now)
    scheduled = ScheduledCall.objects.create(
        endpoint=SAIL,
        request={"input": {"script": "heaved"}},
        due_at=moment,
        wake_at=moment,
        created_at=moment,
        schedule=uuid4(),
        at=moment,
        entity="schedule:x",
    )
    voyages.clock.run_until_idle()
    assert EndedRun.objects.get().key == scheduled.id.hex
    assert set(History.objects.filter(call=scheduled.id).values_list("source", "outcome")) == {("schedule", "made")}


def test_a_pulse_with_a_workflow_waits_for_the_end_of_its_run(voyages, monkeypatch):
    begun = []

    async def rise(input, context):
        if context.due not in begun:
            begun.append(context.due)
        await time.sleep("25s")

    tide.SCRIPT[:] = [rise]
    now = voyages.clock.now
    pulse = Pulse.objects.create(
        endpoint=TIDE, cycle_ms=10_000, intervals=1, cursor=now // 10_000, wake_at=to_datetime(now + 10_000)
    )
    monkeypatch.setattr(due, "in_force", lambda: SimpleNamespace(pulsed=[TIDE]))
    for _ in range(14):
        voyages.clock.set(voyages.clock.now + 5_000)
        for _ in range(3):
            hints = Collected()
            run_pass(hints, only={"pulse", "run"})
            for hint in hints.hints:
                perform(hint, renew=False)
    assert begun == [now + 10_000, now + 40_000, now + 70_000]
    lines = History.objects.filter(call=pulse.id).order_by("due_at").values_list("outcome", "count")
    assert [outcome for outcome, _ in lines] == ["made", "skipped", "skipped", "made", "skipped", "skipped", "made"]
    assert EndedRun.objects.count() == 2


def test_runs_are_counted_and_told_of_when_they_are_late(voyages):
    async def asleep(input, context):
        await time.sleep("30m")

    async def failing(input, context):
        raise KeyError("x")

    voyages.run(asleep)
    voyages.run(failing)
    voyages.clock.set(voyages.clock.now + 600_000)
    (source,) = [source for source in status.read().sources if source.name == "run"]
    assert source.calls is not None
    assert (source.late, source.calls.waiting.number, source.calls.within_hour.number) == (None, 0, 1)
    assert source.calls.parked.number == 1
    voyages.clock.set(voyages.clock.now + 2_400_000)
    told = status.read()
    (source,) = [source for source in told.sources if source.name == "run"]
    assert source.calls is not None
    assert source.late == voyages.clock.now - 1_200_000
    assert source.calls.waiting.number == 1
    assert any(problem.what.startswith("runs are late: 1 call due") for problem in judge(told).problems)


def test_a_run_of_code_that_is_gone_rests_as_a_failure(voyages):
    async def asleep(input, context):
        await time.sleep("1h")

    run = voyages.run(asleep)
    Run.objects.update(endpoint="components.voyages.gone")
    (orphan,) = ORPHANS.found()
    assert orphan.endpoint == "components.voyages.gone"
    voyages.clock.set(voyages.clock.now + 15 * 86_400_000)
    ORPHANS.step(100, _Nobody())
    assert "nobody made it for 14d" in Failure.objects.get(source="run").error
    assert voyages.row(run).failed_at is not None


class _Nobody:
    def hint(self, hint):
        raise AssertionError

    def more(self):
        raise AssertionError


@pytest.fixture(autouse=True)
def _script():
    yield
    tide.SCRIPT.clear()


@pytest.mark.parametrize(
    "key", ["", "k" * 192, "a\0b", "half \ud800", 7], ids=["empty", "long", "NUL", "half", "number"]
)
def test_a_key_that_cannot_be_kept_is_refused_by_name(voyages, key):
    for keyed in (
        lambda: toa.start(SAIL, {"script": "x"}, key),
        lambda: toa.delay(HAIL, {"input": {"name": "x"}}, interval="1h", overdue=None, key=key),
    ):
        with pytest.raises(InvalidInput, match="key is text of 1 to 191 characters"):
            keyed()
