from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

import toa
from tests.workflow.conftest import GO, HAIL, SAIL
from toa import Error, NotFound, Transient, retry, time
from toa.cadence.actions import failures
from toa.exceptions import InvalidInput, NotAllowedHere, OnceMismatch, StepFailed, UnknownEndpoint
from toa.models import EndedRun, Failure, History, Run, RunStep
from toa.workflow import actions


def test_what_a_step_answers_or_raises_reaches_the_function(voyages):
    voyage = voyages.create()

    async def asking(input, context):
        told = []
        for endpoint, given, query in (
            (GO, {"fail": "error"}, {"id": voyage}),
            (HAIL, {"fail": "error", "name": "a"}, None),
            (GO, {"fail": "reef"}, {"id": voyage}),
            (HAIL, {"fail": "reef"}, None),
            (GO, {}, {"id": "0" * 32}),
            (GO, {"by": "far"}, {"id": voyage}),
            ("components.voyages.fly", {}, None),
            (SAIL, {"script": "x"}, None),
        ):
            try:
                reply = await context.call(endpoint, given, query)
            except (ValueError, LookupError, NotAllowedHere) as error:
                told.append(type(error).__name__)
            else:
                told.append([reply.code, reply.details] if isinstance(reply, Error) else reply)
            await time.sleep(1)
        return told

    run = voyages.run(asking)
    voyages.clock.advance(20)
    assert voyages.ended(run).result == [
        ["ASHORE", {}],
        ["SILENT", {"name": "a"}],
        "ValueError",
        "ValueError",
        "NotFound",
        "InvalidInput",
        "UnknownEndpoint",
        "NotAllowedHere",
    ]
    assert voyages.miles(voyage) == 0


def test_a_transient_effect_is_tried_again_under_its_key_and_then_raised(voyages):
    async def hailing(input, context):
        try:
            await context.call(HAIL, {"name": "a", "fail": "transient"})
        except Transient as error:
            return str(error)

    run = voyages.run(hailing)
    voyages.after("2s")
    assert voyages.ended(run).result == "nobody answers"
    assert len(voyages.hailed) == 2
    assert len(set(voyages.hailed)) == 1
    assert not Failure.objects.exists()


def test_retry_tries_so_often_and_raises_the_last(voyages):
    voyages.failures += [ValueError("one"), ValueError("two"), ValueError("three")]

    async def hailing(input, context):
        async def body():
            return await context.call(HAIL, {"name": "a"})

        try:
            await retry.exponential(body, attempts=3, first="1s")
        except ValueError as error:
            return error.args[0]

    run = voyages.run(hailing)
    voyages.clock.advance("1s")
    voyages.clock.advance("2s")
    assert voyages.ended(run).result == "three"


def test_a_failed_run_goes_on_from_the_step_that_failed(voyages):
    voyage = voyages.create()
    voyages.failures += [ValueError("reef")]

    async def sailing(input, context):
        await context.call(GO, {"note": "out"}, {"id": voyage})
        try:
            await context.call(HAIL, {"name": "a"})
        finally:
            await context.call(GO, {"note": "tidied"}, {"id": voyage})
        return "there"

    run = voyages.run(sailing)
    failure = Failure.objects.get()
    assert (failure.source, failure.error, failure.call.hex) == ("run", "ValueError: reef", run)
    assert RunStep.objects.count() == 3
    assert failures.retry(failure.id, "ann") == "tried again"
    voyages.clock.run_until_idle()
    assert voyages.ended(run).result == "there"
    assert voyages.log(voyage) == ["out", "tidied", "tidied"]
    assert len({key for _, key in voyages.hailed}) == 1
    assert not Failure.objects.exists()


def test_a_failed_run_can_be_let_go(voyages):
    async def failing(input, context):
        await time.sleep(0)
        raise KeyError("x")

    run = voyages.run(failing)
    voyages.after("1m")
    assert Run.objects.count() == 1
    actions.discard(UUID(run), "ann")
    assert EndedRun.objects.get().outcome == "failed"
    assert History.objects.filter(call=run, outcome="cancelled", code="discarded, by ann").count() == 1
    assert not Run.objects.exists()
    with pytest.raises(NotFound):
        actions.retry(UUID(run))


def test_a_declared_error_ends_a_run_refused_and_an_undeclared_one_fails_it(voyages):
    async def refusing(input, context):
        return Error("SUNK", depth=3)

    async def raising(input, context):
        raise Error("SUNK")

    async def undeclared(input, context):
        return Error("LOST")

    async def unfit(input, context):
        return object()

    first, second = voyages.run(refusing), voyages.run(raising)
    assert (voyages.ended(first).outcome, voyages.ended(first).error) == ("refused", "SUNK")
    assert voyages.ended(second).outcome == "refused"
    for script in (undeclared, unfit):
        assert voyages.row(voyages.run(script)).failed_at is not None
    assert [failure.error.partition(":")[0] for failure in Failure.objects.order_by("at", "id")] == [
        "OperationFault",
        "StepFailed",
    ]


def test_awaiting_something_foreign_is_refused_with_a_hint(voyages):
    async def dreaming(input, context):
        await asyncio.sleep(1)

    async def yielding(input, context):
        await asyncio.sleep(0)

    voyages.run(dreaming)
    voyages.run(yielding)
    errors = [failure.error for failure in Failure.objects.all()]
    assert [error.partition(",")[0] for error in errors] == [
        "NotAllowedHere: a workflow awaits what needs an event loop",
        "NotAllowedHere: a workflow awaits NoneType",
    ]
    assert all("cannot be kept over a restart" in error and "time.sleep" in error for error in errors)


def test_bounds_on_inputs_replies_and_journals(voyages, monkeypatch):
    async def musing(input, context):
        try:
            await context.call("components.voyages.muse", {"value": "x" * 262_144})
        except StepFailed as error:
            return error.kind

    assert voyages.ended(voyages.run(musing)).result == "InvalidInput"
    with pytest.raises(InvalidInput):
        voyages.start(musing, big="x" * 262_144)

    monkeypatch.setattr("toa.workflow.writing.RECORD_BYTES", 100)

    async def wordy(input, context):
        for _ in range(3):
            await context.call("components.voyages.muse", {"value": "x" * 40})

    values = [step["value"] for step in voyages.ended(voyages.run(wordy)).steps]
    assert [value is None for value in values] == [False, False, True]

    monkeypatch.setattr("toa.workflow.machine.MOST_STEPS", 50)

    async def endless(input, context):
        while True:
            await time.now()

    voyages.run(endless)
    assert "time.watch or retry.forever" in Failure.objects.get().error


def test_a_key_starts_one_run_ever(voyages):
    async def once(input, context):
        await time.sleep("1s")

    run = voyages.start(once, key="k")
    assert voyages.start(once, key="k") == run
    voyages.clock.run_until_idle()
    voyages.after("1s")
    assert voyages.ended(run).outcome == "made"
    assert voyages.start(once, key="k") == run
    assert not Run.objects.exists()
    with pytest.raises(OnceMismatch):
        voyages.start(once, key="k", more=1)
    assert voyages.start(once, key="other") != run


def test_what_is_no_workflow_is_not_started_and_a_workflow_is_not_called(voyages):
    with pytest.raises(NotAllowedHere, match="called, not started"):
        toa.start(HAIL, {})
    with pytest.raises(NotAllowedHere, match="started, not called"):
        toa.call(SAIL, {"script": "x"})
    with pytest.raises(UnknownEndpoint):
        toa.start("components.voyages.sink")
    with pytest.raises(InvalidInput):
        toa.start(SAIL, {})


def test_an_error_that_no_journal_can_keep_is_told_to_the_workflow_and_is_a_failure(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        voyages.failures[:] = [ValueError("half \ud800", "NUL \0")]
        try:
            await context.call(HAIL, {"name": "a"})
        except ValueError as error:
            await context.call(GO, {"note": len(error.args)}, {"id": voyage})
            raise

    run = voyages.run(sailing)
    assert voyages.row(run).failed_at is not None
    assert voyages.log(voyage) == [1]
    assert Failure.objects.get().error == "ValueError: ('half \\ud800', 'NUL \\x00')"
