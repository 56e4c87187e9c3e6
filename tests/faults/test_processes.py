"""Real beats and workers, each killed, frozen or cut off while calls come due: nothing lost, nothing doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
import redis
from django.db import transaction

import toa
from shop.children import load
from tests.components.hazards.models import Hazard
from tests.faults.crew import Crew, wait_for
from toa.cadence.processes import alive
from toa.models import Delay, Failure, History
from toa.runtime import clock
from toa.runtime.clock import SharedClock

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

HAZARDS = "components.hazards"
OVER_MS = 600
"""Calls come due over so long a time, with the damage in the middle of it."""


@pytest.fixture
def crew(process_environment: dict[str, str], tmp_path: Path) -> Iterator[Crew]:
    made = Crew(process_environment, tmp_path)
    with clock.use(SharedClock()):
        try:
            yield made
        finally:
            made.end()


class Work:
    """Calls that come due one after another: transitions on a few rows, and effects on a file."""

    def __init__(self, outside: Path) -> None:
        self.outside = outside
        self.rows = [toa.call(f"{HAZARDS}.create", {})["id"] for _ in range(4)]
        self.transitions: list[str] = []
        self.effects: list[str] = []

    def arm(self, number: int = 30) -> None:
        """Half a second from now on, a call every few ms: for each effect four transitions."""
        begins = clock.clock().now() + 300
        for place in range(number):
            at = begins + place * OVER_MS // number
            if place % 5:
                query = {"query": {"id": self.rows[place % len(self.rows)]}, "input": {}}
                self.transitions.append(toa.delay(f"{HAZARDS}.touch", query, at=at, overdue=None))
            else:
                request = {"input": {"path": str(self.outside), "seconds": 0.2}}
                self.effects.append(toa.delay(f"{HAZARDS}.shout", request, at=at, overdue=None))

    def under_way(self) -> bool:
        """Whether the first of what was armed last has been made."""
        return History.objects.filter(call__in=[UUID(one) for one in self.transitions[-24:]]).exists()

    def done(self) -> bool:
        return not Delay.objects.exists()

    def check(self) -> int:
        """Nothing was lost or doubled; how often an effect was repeated."""
        made = Counter(History.objects.filter(source="delay").values_list("call", "outcome"))
        assert made == Counter((UUID(one), "made") for one in [*self.transitions, *self.effects])
        assert sum(Hazard.objects.values_list("count", flat=True)) == len(self.transitions)
        assert not Failure.objects.exists()
        shouts = Counter(self.outside.read_text().split())
        assert set(shouts) == set(self.effects)
        return sum(shouts.values()) - len(shouts)


def test_whoever_dies_or_freezes_the_others_do_the_work(crew, tmp_path, capsys):
    """Each kind of death, one after another, in one crew: two beats and two workers at first."""
    beats, workers = [crew.beat(), crew.beat()], [crew.worker(), crew.worker()]
    wait_for(lambda: len(alive("beat")) == 2 and len(alive("worker")) == 2, crew, "the start")
    work = Work(tmp_path / "outside")
    report: list[tuple[str, float]] = []

    def hurt(name, strike, after=lambda: None, within_s=20.0):
        work.arm()
        wait_for(work.under_way, crew, "the first call")
        strike()
        took = wait_for(work.done, crew, f"what was due after {name}")
        after()
        report.append((name, took))
        work.check()
        assert took <= within_s * load(), report

    hurt("nothing", lambda: None)
    hurt("SIGKILL of a worker", workers[0].kill)
    hurt("SIGSTOP of beat, the other one awake", lambda: crew.freeze(beats[0]), lambda: crew.wake(beats[0]))
    hurt("SIGKILL of beat, the other one alive", beats[0].kill)

    workers.append(crew.worker())
    wait_for(lambda: len(alive("worker")) >= 2 and len(answering(workers[1:])) == 2, crew, "the second worker")
    hurt("SIGSTOP of a worker", lambda: crew.freeze(workers[1]), lambda: crew.wake(workers[1]))
    # What it held when it froze, it may not write now that it is awake.
    work.arm()
    wait_for(work.done, crew)

    crew.freeze(beats[1])
    work.arm()
    beats.append(crew.beat())
    report.append(("no beat at all, a new one started", wait_for(work.done, crew)))
    crew.wake(beats[1])

    repeated = work.check()
    with capsys.disabled():
        print()
        for name, took in report:
            print(f"  {name:<45} all done after {took:5.1f} s")
        print(f"  {repeated} effects were repeated, each with its own key")


def answering(workers):
    """The workers that wrote that they are ready."""
    return [one for one in workers if " ready." in one.log.read_text(errors="replace")]


def test_D13_the_broker_emptied_while_a_thousand_delays_wait(crew, process_environment, capsys):
    crew.beat(), crew.worker()
    wait_for(lambda: bool(alive("beat") and alive("worker")), crew, "the start")
    rows = [toa.call(f"{HAZARDS}.create", {})["id"] for _ in range(50)]
    at = clock.clock().now() + 3_600_000
    with transaction.atomic():
        for place in range(1000):
            toa.delay(f"{HAZARDS}.touch", {"query": {"id": rows[place % 50]}, "input": {}}, at=at, overdue=None)
    with redis.Redis.from_url(process_environment["REDIS_URL"]) as broker:
        broker.flushdb()
        clock.clock().advance(3_600_000)
        first = wait_for(lambda: Delay.objects.count() < 900, crew, "the first calls")
        broker.flushdb()
    rest = wait_for(lambda: not Delay.objects.exists(), crew, "the rest")
    with capsys.disabled():
        print(f"\n  FLUSHDB of the broker: a hundred made after {first:.1f} s; emptied again, all after {rest:.1f} s")
    assert sum(Hazard.objects.values_list("count", flat=True)) == 1000
    assert History.objects.filter(source="delay", outcome="made", attempt=1).count() == 1000
    assert not Failure.objects.exists()
