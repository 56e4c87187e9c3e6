from __future__ import annotations

import os
import threading
import time as clocks
from uuid import UUID

import pytest
from django.db import connections, transaction

from tests.components.voyages.models import Voyage
from tests.nodes import Node, one_pass
from tests.workflow.conftest import GO
from toa import time
from toa.cadence.calls import suspects
from toa.cadence.passes import Collected, run_pass
from toa.models import Failure, History, Run
from toa.workflow import guarding

pytestmark = pytest.mark.django_db(transaction=True)

WATCHES = 100


def passes(number: int) -> None:
    for _ in range(number):
        run_pass(Collected(), limit=40, only={"run"})
    suspects.close()


def test_F10_a_hundred_watches_and_four_workers_each_serial_and_none_starves(voyages):
    voyage_of, began = {}, voyages.clock.now

    async def watching(input, context):
        async def deliver(moment):
            await context.call(GO, {"note": moment}, {"id": input.voyage})
            await context.call(GO, {"note": -moment}, {"id": input.voyage})

        await time.watch(time.interval("10s"), deliver)

    for _ in range(WATCHES):
        voyage = voyages.create()
        voyage_of[voyages.start(watching, voyage=voyage)] = voyage
    passes(4)
    for round in (1, 2):
        voyages.clock.set(began + round * 10_000)
        nodes = [Node(lambda: passes(5)) for _ in range(4)]
        assert [node.end() for node in nodes] == [0, 0, 0, 0]
        while run_pass(Collected(), only={"run"}).settled:
            pass  # what two nodes were at when the last of them looked
        logs = {tuple(log) for log in Voyage.objects.values_list("log", flat=True)}
        firsts = [began + number * 10_000 for number in range(1, round + 1)]
        assert logs == {tuple(note for moment in firsts for note in (moment, -moment))}
    assert set(Voyage.objects.values_list("version", flat=True)) == {5}
    assert not Failure.objects.exists()


def test_a_run_that_hangs_or_kills_its_process_is_a_failure_after_three_strikes(voyages, monkeypatch):
    async def deadly(input, context):
        os._exit(9)

    async def harmless(input, context):
        return 1

    deadly_run, harmless_run = voyages.start(deadly), voyages.start(harmless)
    for _ in range(3):
        assert one_pass() in (9, 0)
    one_pass()
    assert voyages.row(deadly_run).failed_at is not None
    assert voyages.ended(harmless_run).outcome == "made"
    assert Failure.objects.get().error == "StepFailed: the process died running it"
    Failure.objects.all().delete()

    monkeypatch.setattr(guarding, "FUNCTION_MS", 30)

    async def hanging(input, context):
        while True:
            clocks.monotonic()

    run = voyages.start(hanging)
    for _ in range(3):
        run_pass(Collected(), only={"run"})
    assert voyages.row(run).failed_at is not None
    assert "took longer than 30 ms" in Failure.objects.get().error
    assert History.objects.filter(call=run, outcome="failed").count() == 1


def test_a_run_leaves_an_entity_that_is_held_and_waits_for_it_once_it_is_late(voyages):
    voyage = voyages.create()

    async def sailing(input, context):
        await context.call(GO, {"note": 1}, {"id": voyage})

    run = voyages.start(sailing)
    held, let_go = threading.Event(), threading.Event()

    def person() -> None:
        with transaction.atomic():
            Voyage.objects.select_for_update().get(id=UUID(voyage))
            held.set()
            let_go.wait(10)
        connections.close_all()

    thread = threading.Thread(target=person)
    thread.start()
    held.wait(10)
    step = run_pass(Collected(), only={"run"})
    assert (step.settled, step.locked) == (0, 1)
    voyages.clock.set(voyages.clock.now + 1_500)
    threading.Timer(0.04, let_go.set).start()
    assert run_pass(Collected(), only={"run"}).settled == 1
    thread.join()
    assert voyages.log(voyage) == [1]
    assert voyages.ended(run).outcome == "made"
    assert not Run.objects.filter(id=run).exists()
