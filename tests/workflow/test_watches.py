from __future__ import annotations

import pytest

from tests.workflow.conftest import GO, HAIL
from toa import retry, time
from toa.cadence.passes import Collected, run_pass
from toa.models import EndedRun, Failure, Run, RunStep
from toa.testing.crashes import Crash, crash


def test_F4_an_interval_begins_one_after_the_start_and_keeps_its_phase(voyages):
    voyage, began = voyages.create(), voyages.clock.now

    async def watching(input, context):
        async def deliver(moment):
            await context.call(GO, {"note": moment - began}, {"id": voyage})

        await time.watch(time.interval(25), deliver)

    run = voyages.run(watching)
    assert voyages.log(voyage) == []
    voyages.clock.advance(110)
    assert voyages.log(voyage) == [25, 50, 75, 100]
    voyages.after(255)
    assert voyages.log(voyage)[4:] == [125]
    voyages.clock.advance(12)
    assert voyages.log(voyage)[4:] == [125, 375]
    assert RunStep.objects.count() == 1
    assert voyages.row(run).steps == 1


def test_F5_a_slow_delivery_is_alone_and_what_it_missed_comes_once(voyages):
    voyage, began = voyages.create(), voyages.clock.now

    async def watching(input, context):
        async def deliver(moment):
            await context.call(GO, {"note": moment - began}, {"id": voyage})
            await time.sleep(60)

        await time.watch(time.interval(25), deliver)

    voyages.run(watching)
    voyages.clock.advance(330)
    assert voyages.log(voyage) == [25, 50, 100, 150, 225, 275]


@pytest.mark.django_db(transaction=True)
def test_F6_a_crash_after_the_delivery_gives_the_same_occurrence_with_the_same_key(voyages):
    began, delivered = voyages.clock.now, []

    async def watching(input, context):
        async def deliver(moment):
            delivered.append((moment - began, context.id()))

        await time.watch(time.interval("10s"), deliver)

    voyages.run(watching)
    voyages.clock.set(began + 10_000)
    with crash() as statements:
        voyages.clock.run_until_idle()
    assert len(delivered) == 1
    settles = [place for place, sent in enumerate(statements.sent) if "DELETE FROM toa_runstep" in sent]
    voyages.clock.set(began + 20_000)
    with crash(settles[-1]), pytest.raises(Crash):
        voyages.clock.run_until_idle()
    assert [moment for moment, _ in delivered] == [10_000, 20_000]
    voyages.after(15_000)
    assert [moment for moment, _ in delivered] == [10_000, 20_000, 20_000, 30_000]
    keys = [key for _, key in delivered]
    assert keys[1] == keys[2]
    assert len(set(keys)) == 3


def test_F7_a_delivery_that_raises_ends_the_watch(voyages):
    async def watching(input, context):
        async def deliver(moment):
            raise KeyError("sextant")

        try:
            await time.watch(time.interval(25), deliver)
        except KeyError as error:
            return f"lost {error.args[0]}"

    run = voyages.run(watching)
    voyages.clock.advance(25)
    assert voyages.ended(run).result == "lost sextant"


def test_F7_under_a_retry_the_failed_occurrence_comes_again_and_the_missed_coalesce(voyages):
    voyage, began, failing = voyages.create(), voyages.clock.now, [1, 1]

    async def watching(input, context):
        async def deliver(moment):
            await context.call(GO, {"note": [moment - began, await time.now() - began]}, {"id": voyage})
            if failing:
                failing.pop()
                raise KeyError("sextant")

        await retry.forever(lambda: time.watch(time.interval(1000), deliver), first=2500, factor=2, cap=60_000)

    voyages.run(watching)
    voyages.clock.advance(1000)
    voyages.clock.advance(10_000)
    tried = voyages.log(voyage)
    assert tried[:3] == [[1000, 1000], [1000, 3500], [1000, 8500]]
    assert tried[3:] == [[9000, 9000], [10_000, 10_000], [11_000, 11_000]]


def test_F7_rows_stay_the_same_however_often_it_fails_and_back_off_starts_afresh(voyages):
    failing = [True]

    async def watching(input, context):
        async def deliver(moment):
            await context.call(HAIL, {"name": "x", "fail": "yes" if failing[0] else ""})

        await retry.forever(lambda: time.watch(time.interval(1000), deliver, key="w"), first=100, cap=1000)

    run = voyages.run(watching)
    sizes = set()
    for _ in range(12):
        voyages.after(1000)
        sizes.add((RunStep.objects.count(), Run.objects.count(), voyages.row(run).steps))
    assert len(sizes) <= 2
    assert {key for _, key in voyages.hailed} == {voyages.hailed[0][1]}
    failures = RunStep.objects.get(kind="retry").value["failures"]
    assert failures >= 8
    failing[0] = False
    voyages.after(1000)
    assert RunStep.objects.get(kind="retry").value["failures"] == 0
    failing[0] = True
    voyages.clock.advance(1000)
    retried = RunStep.objects.get(kind="retry").value
    assert retried["failures"] in (1, 2, 3)
    assert not Failure.objects.exists()
    assert not EndedRun.objects.exists()


def test_F9_a_year_of_a_millisecond_is_jumped_over(voyages):
    delivered, began = [], voyages.clock.now

    async def watching(input, context):
        await time.watch(time.interval(1), lambda moment: delivered.append(moment - began))

    voyages.run(watching)
    voyages.clock.set(began + 365 * 86_400_000)
    for _ in range(3):
        run_pass(Collected(), only={"run"})
    assert delivered == [1]


def test_F12_a_changed_rhythm_keeps_the_cursor_of_its_watch(voyages):
    delivered, began = [], voyages.clock.now

    async def watching(input, context):
        await time.watch(time.interval(1000), lambda moment: delivered.append(moment - began), key="w")

    async def changed(input, context):
        await time.watch(time.interval(400), lambda moment: delivered.append(moment - began), key="w")

    voyages.run(watching)
    voyages.clock.advance(1500)
    changed.__name__ = "watching"
    voyages.script(changed)
    voyages.clock.advance(1500)
    assert delivered == [1000, 1200, 2400, 2800]


def test_a_calendar_is_watched_in_its_zone(voyages):
    delivered = []

    async def watching(input, context):
        await time.watch(time.cron("0 9 * * *", "Asia/Tokyo"), delivered.append)

    voyages.run(watching)  # 2026-01-05, 12:00 UTC: 21:00 in Tokyo
    voyages.after("13h")
    assert delivered == [voyages.clock.now - 3_600_000]
