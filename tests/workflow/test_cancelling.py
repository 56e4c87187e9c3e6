from __future__ import annotations

from uuid import UUID

import pytest

from tests.workflow.conftest import GO, HAIL
from toa import Cancelled, DeadlineExceeded, time
from toa.cadence.passes import Collected, run_pass
from toa.core.calling import Lease
from toa.exceptions import LeaseLost, NotFound
from toa.models import EndedRun, Failure, Run, RunCall, RunStep
from toa.runtime.writing import check_lease
from toa.workflow import actions


def gone() -> bool:
    return not (Run.objects.exists() or RunStep.objects.exists() or RunCall.objects.exists())


def test_F8_cancel_during_a_delivery_stops_it_and_cancelling_again_is_harmless(voyages):
    voyage = voyages.create()

    async def watching(input, context):
        async def deliver(moment):
            try:
                await time.sleep("1h")
            finally:
                await context.call(GO, {"note": "tidied"}, {"id": voyage})
                await time.sleep(10)

        await time.watch(time.interval(25), deliver)

    run = voyages.run(watching)
    voyages.clock.advance(30)
    assert actions.cancel(UUID(run), "ann") == "being cancelled"
    assert actions.cancel(UUID(run), "bob") == "being cancelled"
    voyages.clock.advance(20)
    assert voyages.log(voyage) == ["tidied"]
    ended = voyages.ended(run)
    assert (ended.outcome, ended.error) == ("cancelled", "by ann")
    assert gone()
    assert actions.cancel(UUID(run)) == "already cancelled"
    assert voyages.log(voyage) == ["tidied"]


def test_cancel_during_an_effect_withdraws_its_token(voyages):
    seen = []

    async def hailing(input, context):
        try:
            await context.call(HAIL, {"name": "a"})
        except Cancelled:
            seen.append("told")
            raise

    run = voyages.start(hailing)
    run_pass(Collected())
    call = RunCall.objects.get()
    actions.cancel(UUID(run))
    run_pass(Collected())
    assert seen == ["told"]
    assert voyages.ended(run).outcome == "cancelled"
    assert gone()
    with pytest.raises(LeaseLost):
        check_lease(Lease(table="toa_runcall", id=call.id, token=call.id))
    voyages.after("5s")
    assert voyages.hailed == []


def test_a_run_that_never_began_is_cancelled_at_once(voyages):
    async def never(input, context):
        raise AssertionError

    run = voyages.start(never)
    assert actions.cancel(UUID(run)) == "cancelled"
    voyages.clock.run_until_idle()
    assert voyages.ended(run).outcome == "cancelled"
    with pytest.raises(NotFound):
        actions.cancel(UUID(int=7))


def test_a_run_that_will_not_end_is_ended_after_a_minute(voyages):
    async def stubborn(input, context):
        while True:
            try:
                await time.sleep("1h")
            except Cancelled:
                await time.sleep("1h")

    run = voyages.run(stubborn)
    actions.cancel(UUID(run))
    voyages.clock.run_until_idle()
    voyages.after("59s")
    assert Run.objects.exists()
    voyages.after("1s")
    assert voyages.ended(run).outcome == "cancelled"


def test_a_deadline_ends_a_sleep_an_effect_and_a_watch(voyages):
    ended = []

    async def bounded(input, context):
        def body(waits):
            async def body():
                try:
                    await waits()
                finally:
                    ended.append(await time.now())

            return body

        for waits in (
            lambda: time.sleep("1h"),
            lambda: context.call(HAIL, {"name": "a"}),
            lambda: time.watch(time.interval("1h"), print),
        ):
            try:
                await time.with_deadline("5s", body(waits))
            except DeadlineExceeded:
                await time.sleep(1)
        return "over"

    began = voyages.clock.now
    run = voyages.start(bounded)
    for now in (0, 5_000, 5_001, 10_001, 10_002, 15_002, 15_003):
        voyages.clock.set(began + now)
        run_pass(Collected(), only={"run"})
    assert voyages.ended(run).result == "over"
    assert sorted(set(ended)) == [began + 5_000, began + 10_001, began + 15_002]
    assert gone()
    assert voyages.hailed == []


def test_what_is_over_before_its_deadline_counts_even_where_both_passed(voyages):
    async def bounded(input, context):
        async def body():
            await time.sleep("4s")
            return "slept"

        return await time.with_deadline("5s", body)

    run = voyages.run(bounded)
    voyages.after("10s")
    assert voyages.ended(run).result == "slept"


def test_of_nested_deadlines_the_first_that_is_over_counts(voyages):
    async def bounded(input, context):
        async def inner():
            try:
                await time.with_deadline("9s", lambda: time.sleep("1h"))
            except DeadlineExceeded:
                return "inner"

        try:
            return await time.with_deadline("5s", inner)
        except DeadlineExceeded:
            return "outer"

    run = voyages.run(bounded)
    voyages.after("20s")
    assert voyages.ended(run).result == "outer"


def test_a_failed_run_can_be_cancelled(voyages):
    async def failing(input, context):
        raise KeyError("x")

    run = voyages.run(failing)
    assert Failure.objects.count() == 1
    assert actions.cancel(UUID(run), "ann") == "cancelled"
    assert not Failure.objects.exists()
    assert EndedRun.objects.get().outcome == "cancelled"
    assert gone()
