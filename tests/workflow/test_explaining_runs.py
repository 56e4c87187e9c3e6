"""Where a run is and why, as an operator reads it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

import toa
from tests.commands.saying import toa as toa_command
from tests.workflow.conftest import GO, HAIL, SAIL, Voyages
from toa import retry, time
from toa.cadence.explaining.gathering import explain as explain_object
from toa.cadence.explaining.telling import tell as tell_of_object
from toa.cadence.passes import Collected, run_pass
from toa.core.clock import to_datetime
from toa.exceptions import InvalidQuery, NotFound
from toa.models import EndedRun, Failure, Process, Pulse, Run, RunCall
from toa.workflow import actions
from toa.workflow.explaining.gathering import explain
from toa.workflow.explaining.telling import tell

VOYAGES = "components.voyages"


@pytest.fixture
def voyages(toa_clock):
    return Voyages(toa_clock)


def said(wanted, name="run"):
    return "\n".join(tell(explain(name, wanted)))


def about(voyage):
    return "\n".join(tell_of_object(explain_object(VOYAGES, voyage)))


async def nap(input, context):
    await context.call("components.voyages.muse", {"value": "x" * 1000})
    await time.sleep("1h")


def test_O2_a_run_that_sleeps_since_when_until_when_and_what_it_did(voyages):
    run = voyages.start(nap, "anna")
    assert (
        f"The run {run} of {SAIL} with the key 'anna' is due since 2026-01-05 12:00:00 UTC, now, and has not"
        in said(run)
    )
    voyages.clock.run_until_idle()
    voyages.clock.set(voyages.clock.now + 60_000)
    text = said(run)
    assert text.startswith(f"The run {run} of {SAIL} with the key 'anna' waits since 2026-01-05 12:00:00 UTC, 1m ago.")
    assert "At step 1 it waits for the moment 2026-01-05 13:00:00 UTC, in 59m." in text
    assert "It was started 2026-01-05 12:00:00 UTC, 1m ago by a direct start" in text
    assert "Step 0, call components.voyages.muse, made (2026-01-05 12:00:00 UTC, 1m ago)." in text
    assert "Nobody is running what comes due: no beat and no worker alive." in text.split("\n")[1]
    assert "deadline" not in text, "it is woken when its sleep is over, and for nothing else"
    voyages.clock.set(voyages.clock.now + 7_200_000)
    text = said(run)
    assert "is due since 2026-01-05 13:00:00 UTC, 1h1m ago: nothing has to happen before it goes on." in text
    assert "for the moment 2026-01-05 13:00:00 UTC, 1h1m ago, which is reached." in text
    voyages.clock.run_until_idle()
    text = said(run)
    assert "ended 2026-01-05 14:01:00 UTC, now; it was made." in text
    assert f"{SAIL}, a run due 2026-01-05 12:00:00 UTC, 2h1m ago, was made" in text


def test_O2_a_run_is_found_by_its_id_or_its_key_while_it_is_on_its_way_and_after_its_end(voyages):
    run = voyages.start(nap, "anna")
    for name in ("run", SAIL):
        for wanted in (run, run.upper(), "anna"):
            assert explain(name, wanted).id == run
    unknown = (("run", uuid4().hex), ("loyalty.welcome", run), (SAIL, "bea"), ("run", ""), ("run", "a\0\ud800"))
    for name, wanted in unknown:
        with pytest.raises(NotFound, match="no run"):
            explain(name, wanted)
    other = toa.start("loyalty.welcome", {"customer": "anna"}, key="anna")
    with pytest.raises(InvalidQuery, match=f"{run} of {SAIL}"):
        explain("run", "anna")
    assert explain("loyalty.welcome", "anna").id == other
    Run.objects.filter(id=other).delete()
    voyages.clock.run_until_idle()
    voyages.after("2h")
    assert explain("run", "anna").ended == explain(SAIL, "anna").ended == voyages.clock.now


def test_O2_a_run_that_waits_for_an_effect_tells_where_that_is(voyages):
    async def hailing(input, context):
        await time.with_deadline("10m", lambda: context.call(HAIL, {"name": "a"}))

    run = voyages.start(hailing)
    run_pass(Collected(), only={"run"})
    call = RunCall.objects.get()
    name = f"{HAIL} (call {call.id.hex})"
    text = said(run)
    assert f"At step 1 it waits for {HAIL}, an effect, and goes on once that is settled." in text
    assert f"{name} is due since 2026-01-05 12:00:00 UTC, now: a worker takes it next." in text
    assert "It is woken 2026-01-05 12:10:00 UTC, in 10m, when a deadline around this step is over." in text
    soon = to_datetime(voyages.clock.now + 5000)
    RunCall.objects.update(wake_at=soon, attempt=1, error="Transient: nobody answers", strikes=2)
    text = said(run)
    tried = ", after 1 attempt, the last of which ended in Transient: nobody answers."
    assert f"{name} is tried again 2026-01-05 12:00:05 UTC, in 5s{tried}" in text
    assert "It took its process with it, or its time, 2 times; with 3 it fails." in text
    RunCall.objects.update(token=uuid4(), strikes=0)
    assert f"{name} is being made, under a lease that ends 2026-01-05 12:00:05 UTC, in 5s" in said(run)
    voyages.clock.set(voyages.clock.now + 6000)
    assert f"{name} was being made by a process that is gone: it is made again under the same key" in said(run)
    RunCall.objects.update(endpoint="components.voyages.gone", token=None)
    assert "(call " in said(run) and "is made by nobody: no code that runs here knows the operation" in said(run)


def test_O2_a_failed_run_names_its_failure_its_step_and_what_to_type(voyages):
    voyage = voyages.create()

    async def sinking(input, context):
        await time.sleep(1)
        await context.call(GO, {"fail": "leak"}, {"id": voyage})

    run = voyages.start(sinking)
    voyages.clock.advance(1)
    failure = Failure.objects.get()
    text = said(run)
    assert text.startswith(f"The run {run} of {SAIL} rests since 2026-01-05 12:00:00.001 UTC, now, after a failure.")
    assert f"ValueError: leak (failure {failure.id.hex}). After manage.py toa runs retry {run}" in text
    assert "it goes on from step 1; discard lets it go for good." in text
    assert "Step 1, call components.voyages.go, raised: ValueError: leak" in text
    assert f"{SAIL}, a run due 2026-01-05 12:00:00 UTC, 1ms ago, failed: ValueError: leak" in text
    actions.discard(failure.call, "ann")
    assert "it failed, and was let go: ValueError: leak; " in said(run)


def test_O2_a_run_whose_step_or_try_goes_wrong_tells_what_it_ended_in(voyages):
    async def trying(input, context):
        await retry.forever(lambda: context.call(HAIL, {"name": "a", "fail": "yes"}), first="1h", factor=1, cap="1h")

    run = voyages.run(trying)
    text = said(run)
    assert "At step 1 it waits for the next try, 2026-01-05 13:00:00 UTC, in 1h: it failed 1 time in a row" in text
    assert "the last one with ValueError: yes." in text
    assert f"{HAIL}, a step due 2026-01-05 12:00:00 UTC, now, failed: ValueError: yes" in text
    Run.objects.update(
        attempt=2, error="Transient: calm", strikes=1, waits={"kind": "call", "name": GO, "position": 1, "attempt": 2}
    )
    text = said(run)
    again = (
        "is tried again 2026-01-05 13:00:00 UTC, in 1h, after 2 attempts, the last of which ended in Transient: calm."
    )
    assert f"Its step 1, {GO}, {again}" in text
    assert "It took its process with it, or its time, once; with 3 it fails." in text


def test_O2_a_watch_an_asked_end_a_process_that_has_it_and_code_that_is_gone(voyages):
    async def watching(input, context):
        await time.watch(time.interval("1m"), lambda moment: None, key="w")

    run = voyages.run(watching)
    text = said(run)
    assert "At step 1 it waits for the occurrence 2026-01-05 12:01:00 UTC, in 1m." in text
    assert "Its watch 'w' is done up to 2026-01-05 12:00:00 UTC, now." in text
    moment = to_datetime(voyages.clock.now)
    Process.objects.create(
        id=uuid4(), kind="pass", host="db.example", pid=4711, started_at=moment, seen_at=moment, running=[run]
    )
    Pulse.objects.create(endpoint=SAIL, cycle_ms=60_000, intervals=1, cursor=1, paused_at=moment, paused_by="ann")
    actions.cancel(UUID(run), "bob")
    text = said(run)
    assert text.startswith(f"The run {run} of {SAIL} is to end, since 2026-01-05 12:00:00 UTC, now.")
    assert "Its end was asked for by bob: its function is told where it waits, and cleans up for a minute" in text
    assert "12:01:00" not in text, "it waits for that no more"
    assert "The process 4711@db.example has it in hand, or died over it." in text
    assert f"The pulse {SAIL} is paused by ann since 2026-01-05 12:00:00 UTC, now: it starts no other run." in text
    Run.objects.update(endpoint="components.voyages.gone")
    assert "No code here can go on with it: no code that runs here knows the operation; it waits for code" in said(run)


def test_O2_an_object_names_the_runs_that_changed_it_and_that_were_started_for_it(voyages):
    voyage = voyages.create()

    async def heaved(input, context):
        await context.call(GO, {}, {"id": voyage})
        await time.sleep("1h")

    voyages.script(heaved)
    toa.call("components.voyages.heave", {"interval": 0}, id=voyage)
    voyages.clock.run_until_idle()
    run = Run.objects.get()
    text = about(voyage)
    stands = f"it sleeps until 2026-01-05 13:00:00 UTC, in 1h: see toa explain run {run.id.hex}."
    assert f"The run {run.id.hex} of {SAIL} was started by a call told of here; {stands}" in text
    assert f"was made (2026-01-05 12:00:00 UTC, now); it started the run {run.id.hex}." in text
    voyages.after("1h")
    assert f"it ended 2026-01-05 13:00:00 UTC, now: made: see toa explain run {run.id.hex}." in about(voyage)
    EndedRun.objects.all().delete()
    assert "it has ended, and no record of it is kept." in about(voyage)
    assert explain_object(VOYAGES, voyages.create()).runs == ()


def test_O2_an_object_with_a_history_names_the_step_that_changed_it(voyages):
    claim = toa.call("components.tallies.create", {"name": "first"})["id"]
    voyages.clock.run_until_idle()

    async def claiming(input, context):
        await context.call("components.claims.set", {"a": context.due + 7_200_000}, {"id": claim})
        await context.call(HAIL, {"name": "a"})

    run = voyages.start(claiming)
    run_pass(Collected(), only={"run"})
    text = "\n".join(tell_of_object(explain_object("components.claims", claim)))
    assert f"set by components.claims.set (version 2, called by a step of the run {run} of {SAIL}, 2026-01-05" in text
    stands = f"it waits for an effect: see toa explain run {run}."
    assert f"The run {run} of {SAIL} changed it last 2026-01-05 12:00:00 UTC, now; {stands}" in text


def test_O2_explain_tells_of_a_run_on_the_command_line(voyages):
    run = voyages.start(nap, "anna")
    voyages.clock.run_until_idle()
    told = toa_command("explain", "run", run)
    assert told.code == 0 and told.text.startswith(f"The run {run} of {SAIL} with the key 'anna' waits since")
    document = toa_command("explain", SAIL, "anna", "--json").data
    assert (document["id"], document["state"], document["wakes"]) == (run, "sleeping", voyages.clock.now + 3_600_000)
    assert document["sentences"][0] == told.text.split("\n")[0]
    assert [step["kind"] for step in document["steps"]] == ["call"]
    lost = toa_command("explain", "run", "bea")
    assert lost.code == 1 and "no run has the id or the key 'bea'" in lost.text
