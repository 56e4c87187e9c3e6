from __future__ import annotations

import math

import pytest

import toa
from tests.workflow.conftest import GO
from toa import retry, time
from toa.core.clock import GREATEST, to_moment
from toa.exceptions import InvalidDuration, InvalidMoment
from toa.models import RunStep
from toa.testing.crashes import Crash, crash


def test_F1_now_is_the_same_once_a_later_step_committed(voyages):
    voyage, seen = voyages.create(), []

    async def logging(input, context):
        seen.append(await time.now())
        await context.call(GO, {"note": seen[-1]}, {"id": voyage})
        await time.sleep(1000)
        await time.sleep(1000)

    began = voyages.clock.now
    voyages.run(logging)
    voyages.after(1500)
    voyages.after(1500)
    assert seen == [began] * 3
    assert voyages.log(voyage) == [began]


@pytest.mark.django_db(transaction=True)
def test_F1_now_before_a_crash_is_later_and_nothing_durable_disagrees(voyages):
    voyage, seen = voyages.create(), []

    async def logging(input, context):
        seen.append(await time.now())
        await context.call(GO, {"note": seen[-1]}, {"id": voyage})

    run = voyages.start(logging)
    began = voyages.clock.now
    with crash() as statements:
        voyages.clock.run_until_idle()
    number = next(place for place, sent in enumerate(statements.sent) if "toa_endedrun" in sent)
    seen.clear()
    again = voyages.start(logging)
    with crash(number), pytest.raises(Crash):
        voyages.clock.run_until_idle()
    voyages.after(70)
    assert seen == [began, began + 70]
    assert voyages.log(voyage) == [began, began + 70]
    assert voyages.ended(again).steps[0]["value"] == began + 70
    assert voyages.ended(run).steps[0]["value"] == began


def test_F2_a_sleep_keeps_its_moment_over_a_restart_and_wakes_once(voyages):
    voyage, entered = voyages.create(), []

    async def sleeping(input, context):
        entered.append(await time.now())
        await time.sleep(200)
        await context.call(GO, {"note": await time.now()}, {"id": voyage})

    began = voyages.clock.now
    run = voyages.run(sleeping)
    voyages.clock.advance(50)
    assert to_moment(voyages.row(run).wake_at) == began + 200
    voyages.clock.advance(149)
    assert voyages.log(voyage) == []
    voyages.clock.advance(1)
    assert voyages.log(voyage) == [began + 200]
    voyages.clock.advance(1000)
    assert voyages.miles(voyage) == 1


def test_F2_a_moment_that_passed_while_all_was_down_is_over_at_recovery_once(voyages):
    voyage = voyages.create()

    async def sleeping(input, context):
        await time.sleep(200)
        await context.call(GO, {"note": await time.now()}, {"id": voyage})

    began = voyages.clock.now
    voyages.run(sleeping)
    voyages.after(5000)
    voyages.after(5000)
    assert voyages.log(voyage) == [began + 5000]


def test_runs_wake_in_time_order_with_everything_else(voyages):
    voyage = voyages.create()

    async def sleeping(input, context):
        for _ in range(3):
            await time.sleep(100)
            await context.call(GO, {"note": "run"}, {"id": voyage})

    voyages.run(sleeping)
    for after in (50, 150, 250):
        toa.delay(GO, {"query": {"id": voyage}, "input": {"note": f"delay {after}"}}, interval=after, overdue=None)
    voyages.clock.advance(300)
    assert voyages.log(voyage) == ["delay 50", "run", "delay 150", "run", "delay 250", "run"]


def test_F3_what_lies_behind_is_over_at_once(voyages):
    async def sleeping(input, context):
        await time.sleep(0)
        await time.sleep(-5)
        await time.sleep_until(await time.now() - 1)
        await time.sleep_until(await time.now())
        return await time.now()

    run = voyages.run(sleeping)
    assert voyages.ended(run).result == voyages.clock.now


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: time.sleep(math.nan), InvalidDuration),
        (lambda: time.sleep(math.inf), InvalidDuration),
        (lambda: time.sleep(-math.inf), InvalidDuration),
        (lambda: time.sleep(True), InvalidDuration),
        (lambda: time.sleep("soon"), InvalidDuration),
        (lambda: time.sleep(36_526 * 86_400_000), InvalidDuration),
        (lambda: time.sleep_until(GREATEST + 1), InvalidMoment),
        (lambda: time.sleep_until(1.5), InvalidMoment),
        (lambda: time.sleep_until("tomorrow"), InvalidMoment),
        (lambda: time.interval(0), InvalidDuration),
        (lambda: time.interval(-1), InvalidDuration),
        (lambda: time.interval(0.00001), InvalidDuration),
        (lambda: time.interval(math.nan), InvalidDuration),
        (lambda: time.cron("61 * * * *", "UTC"), ValueError),
        (lambda: time.cron("0 0 31 2 *", "UTC"), ValueError),
        (lambda: time.cron("0 9 * * *", "Mars/Olympus"), ValueError),
        (lambda: time.watch(25, print), ValueError),
        (lambda: time.watch(time.interval(25), None), ValueError),
        (lambda: retry.forever(print, first="10m"), ValueError),
        (lambda: retry.exponential(print, first=101, cap=100), ValueError),
    ],
)
def test_F3_F9_what_is_no_moment_or_rhythm_is_refused_where_it_stands(ask, error):
    with pytest.raises(error):
        ask()


def test_F3_what_is_refused_in_a_run_stores_nothing(voyages):
    async def sleeping(input, context):
        for ask in (lambda: time.sleep(math.nan), lambda: time.sleep_until(GREATEST + 1)):
            with pytest.raises((InvalidDuration, InvalidMoment)):
                await ask()
        await time.sleep(10)

    voyages.run(sleeping)
    assert not RunStep.objects.exists()


def test_F3_forty_days_and_ten_years_never_wake_early(voyages):
    async def sleeping(input, context):
        await time.sleep("40d")
        await time.sleep("3650d")
        return await time.now()

    began = voyages.clock.now
    run = voyages.run(sleeping)
    day = 86_400_000
    voyages.after(40 * day - 1)
    assert voyages.row(run).steps == 0
    voyages.after(1)
    assert voyages.row(run).steps == 1
    voyages.after(3650 * day - 1)
    assert voyages.row(run).steps == 1
    voyages.after(1)
    assert voyages.ended(run).result == began + 3690 * day
