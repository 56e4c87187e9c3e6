"""What a retry that never ends keeps, however often it failed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.workflow.conftest import GO, Voyages
from toa import retry, time
from toa.cadence.passes import Collected, run_pass
from toa.models import EndedRun, Failure, History, Revision, Run, RunCall, RunStep
from toa.workflow.entries import Journal
from toa.workflow.machine import Machine, Memory
from toa.workflow.pauses import Wait, Write

FAILURES = 10_000
SECOND = 1000


def test_F7_the_journal_is_as_long_after_ten_thousand_failures_as_after_one_and_back_off_starts_afresh():
    """The step loop alone, which knows no database, with a new copy of the function for each time that it wakes."""
    failing, tried, sizes, waits = [True], [], set(), []

    async def watching():
        async def deliver(moment):
            tried.append(moment)
            if failing[0]:
                raise KeyError("sextant")

        await retry.forever(
            lambda: time.watch(time.interval(SECOND), deliver, key="w"), first=100, factor=2, cap=60 * SECOND
        )

    now = [0]
    memory = Memory(key="k", due=0, journal=Journal(), waits=None, watches={}, cancel_at=None)

    def wake():
        machine = Machine(memory, lambda: now[0])
        machine.begin(watching())
        while isinstance(pause := machine.advance(), Write):
            machine.journal.committed()
        machine.close()
        assert isinstance(pause, Wait) and pause.until is not None
        machine.journal.committed()
        waits.append(pause.until - now[0])
        now[0] = pause.until
        return replace(memory, waits=pause.waits, watches=machine.progress.watches)

    memory = wake()
    while len(tried) < FAILURES:
        memory = wake()
        sizes.add((len(memory.journal), len(memory.watches)))
    assert set(tried) == {SECOND}, "the failed occurrence comes again"
    assert sizes == {(1, 1)}
    assert memory.journal.get(0).value["failures"] == FAILURES
    assert waits[1:12] == [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60_000]
    assert set(waits[12:]) == {60_000}
    missed = now[0]
    failing[0] = False
    memory = wake()
    assert memory.journal.get(0).value["failures"] == 0
    assert len(memory.journal) == 3, "the retry, its last wait, and the watch"
    assert tried[FAILURES:] == [SECOND]
    assert missed < now[0] <= missed + SECOND, "what was missed meanwhile is not made up one by one"
    failing[0] = True
    memory = wake()
    assert waits[-1] == 100, "back-off starts afresh"


def test_F7_rows_stay_the_same_however_often_a_delivery_fails(toa_clock):
    fail(toa_clock, 25)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)  # within one transaction no version of a row is ever cleared away
def test_F7_rows_stay_the_same_over_ten_thousand_failures(toa_clock):
    fail(toa_clock, FAILURES)


def fail(toa_clock, number):
    """Have a delivery fail so often, whatever it did before that, and look at what is there after each time."""
    voyages = Voyages(toa_clock)
    voyage = voyages.create()

    async def watching(input, context):
        async def deliver(moment):
            await context.call(GO, {}, {"id": voyage})
            raise KeyError("sextant")

        await retry.forever(lambda: time.watch(time.interval(SECOND), deliver, key="w"), first=SECOND, factor=1)

    voyages.run(watching)
    toa_clock.set(toa_clock.now + SECOND)
    kept = set()
    for _ in range(number):
        run_pass(Collected(), only={"run"})
        toa_clock.set(toa_clock.now + SECOND)
        kept.add(
            tuple(model.objects.count() for model in (Run, RunStep, RunCall, EndedRun, Failure, History, Revision))
        )
    assert kept == {(1, 1, 0, 0, 0, 0, 0)}
    assert RunStep.objects.get().value["failures"] == number
    assert voyages.miles(voyage) == number, "what each try did stands"
