"""The process dies before and after every statement on the way of a run, and a long run is killed at random.

After every death all goes on by itself: transitions took effect once, effects were asked for again with the same key
alone, a watch delivered each of its occurrences in order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections

import toa
from tests.components.voyages.models import Voyage
from tests.workflow.conftest import GO, HAIL, SAIL, Voyages
from toa import DeadlineExceeded, retry, time
from toa.cadence.actions import failures
from toa.cadence.passes import Collected, perform, run_pass
from toa.models import Delivery, EndedRun, Failure, History, Run, RunCall, RunStep
from toa.runtime import settings as toa_settings
from toa.testing.crashes import Crash, crash, everywhere
from toa.workflow import actions, guarding

pytestmark = pytest.mark.django_db(transaction=True)

SHARES = [pytest.param(9, id="quick"), pytest.param(1, id="full", marks=pytest.mark.slow)]
KILLS = [pytest.param(30, 10, id="quick"), pytest.param(200, 50, id="full", marks=pytest.mark.slow)]

Prepared = tuple[Callable[[], object], Callable[[], object]]
"""An action, and the look afterwards: an assertion over the state that it left."""


@pytest.fixture(params=["in_sets", "alone"])
def world(toa_clock, request, settings, monkeypatch):
    settings.TOA = {**settings.TOA, "SETWISE": request.param == "in_sets"}
    monkeypatch.setattr(guarding, "LEAST", 1)
    return Voyages(toa_clock)


def work() -> int:
    """One pass over runs and their effects, the effects made; how much there was to do."""
    hints = Collected()
    done = run_pass(hints, only={"run", "step"})
    for hint in hints.hints:
        perform(hint, renew=False)
    return done.settled + done.locked + done.full


def recover(world: Voyages) -> None:
    """Leases lapse and back-offs end; all goes on by itself."""
    for _ in range(2):
        world.clock.set(world.clock.now + 90_000)
        while work():
            pass


def keys(world: Voyages, name: str) -> int:
    return len({key for called, key in world.hailed if called == name})


def start(world: Voyages) -> Prepared:
    """A start is there or is not; asked for again with its key, there is one run."""
    voyage, key = world.create(), uuid4().hex

    async def sailing(input: Any, context: Any) -> None:
        await context.call(GO, {}, {"id": voyage})

    world.script(sailing)

    def begin() -> str:
        return toa.start(SAIL, {"script": "sailing"}, key)

    def look() -> None:
        run = begin()
        recover(world)
        assert world.ended(run).outcome == "made"
        assert world.miles(voyage) == 1

    return begin, look


def receive(world: Voyages) -> Prepared:
    """An event that happened starts one run; the event is delivered and the run is there, or neither."""
    voyage = world.create()

    async def landed(input: Any, context: Any) -> None:
        await context.call(GO, {"by": 10}, {"id": input.voyage})

    world.script(landed)
    toa.call(GO, {"note": "landfall"}, id=voyage)
    event = Delivery.objects.get(source_id=UUID(voyage).hex).id

    def act() -> None:
        run_pass(Collected(), only={"delivery"})

    def look() -> None:
        act()
        recover(world)
        assert EndedRun.objects.get(key=event.hex).outcome == "made"
        assert world.miles(voyage) == 11
        assert History.objects.filter(call=event).count() == 1

    return act, look


def go_on(world: Voyages) -> Prepared:
    """A transition and its step commit together; so does the end."""
    voyage = world.create()

    async def sailing(input: Any, context: Any) -> Any:
        began = await time.now()
        for _ in range(2):
            await context.call(GO, {"note": began}, {"id": voyage})
        return began

    run = world.start(sailing)

    def look() -> None:
        result = world.ended(run).result
        assert world.log(voyage) == [result, result]
        assert Voyage.objects.get(id=UUID(voyage)).version == 3

    return work, look


def call_effect(world: Voyages) -> Prepared:
    """An effect is asked for with one key, and its reply is what the run goes on with."""
    name = uuid4().hex

    async def hailing(input: Any, context: Any) -> Any:
        return (await context.call(HAIL, {"name": name})).hailed

    run = world.start(hailing)

    def act() -> None:
        work()
        work()

    def look() -> None:
        assert world.ended(run).result == name
        assert keys(world, name) == 1
        assert History.objects.filter(source="step", call=one_key(world, name)).count() == 1

    return act, look


def one_key(world: Voyages, name: str) -> UUID:
    (key,) = {key for called, key in world.hailed if called == name}
    return UUID(key)


def deliver(world: Voyages) -> Prepared:
    """Each occurrence is delivered, in order, its transition once."""
    voyage, began = world.create(), world.clock.now

    async def watching(input: Any, context: Any) -> None:
        async def one(moment: int) -> None:
            await context.call(GO, {"note": moment}, {"id": voyage})
            await context.call(HAIL, {"name": f"{voyage}@{moment}"})
            await context.call(GO, {"note": -moment}, {"id": voyage})

        await retry.forever(lambda: time.watch(time.interval("10s"), one))

    run = world.start(watching)
    work()
    world.clock.set(began + 10_000)

    def act() -> None:
        for _ in range(3):
            work()

    def look() -> None:
        log = world.log(voyage)
        assert log[0] == began + 10_000
        assert log[1::2] == [-moment for moment in log[::2]]
        assert log[::2] == sorted(set(log[::2]))
        assert all(keys(world, f"{voyage}@{moment}") == 1 for moment in log[::2])
        assert world.row(run).steps <= 3
        actions.cancel(UUID(run))
        recover(world)

    return act, look


def fail_and_try(world: Voyages) -> Prepared:
    """A try that failed is counted and its steps leave, or it was never made."""
    name = uuid4().hex
    world.failures[:] = [ValueError("fog")]

    async def hailing(input: Any, context: Any) -> Any:
        return (await retry.forever(lambda: context.call(HAIL, {"name": name}), first="1s")).hailed

    run = world.start(hailing)

    def act() -> None:
        for _ in range(3):
            work()
        world.clock.set(world.clock.now + 1_000)
        work()

    def look() -> None:
        assert world.ended(run).result == name
        assert keys(world, name) == 1

    return act, look


def cancel(world: Voyages) -> Prepared:
    """A cancelled run ends once, its `finally` block included, and nothing of it is left."""
    voyage = world.create()

    async def sailing(input: Any, context: Any) -> None:
        try:
            await context.call(HAIL, {"name": "never"})
        finally:
            await context.call(GO, {}, {"id": voyage})

    run = world.start(sailing)
    run_pass(Collected(), only={"run"})

    def act() -> None:
        actions.cancel(UUID(run), "ann")
        run_pass(Collected(), only={"run"})

    def look() -> None:
        actions.cancel(UUID(run), "ann")
        recover(world)
        assert world.miles(voyage) == 1
        assert world.ended(run).outcome in ("cancelled", "made")

    return act, look


def exceed(world: Voyages) -> Prepared:
    """A deadline that is over withdraws the call and is told once."""
    voyage = world.create()

    async def sailing(input: Any, context: Any) -> None:
        try:
            await time.with_deadline("5s", lambda: context.call(HAIL, {"name": "late"}))
        except DeadlineExceeded:
            await context.call(GO, {}, {"id": voyage})

    run = world.start(sailing)
    run_pass(Collected(), only={"run"})
    world.clock.set(world.clock.now + 5_000)

    def look() -> None:
        assert world.ended(run).outcome == "made"
        assert world.miles(voyage) == 1

    return lambda: run_pass(Collected(), only={"run"}), look


def retry_failure(world: Voyages) -> Prepared:
    """A retry goes on from the step that failed, or the failure is still there."""
    voyage, name = world.create(), uuid4().hex
    world.failures[:] = [ValueError("reef")]

    async def sailing(input: Any, context: Any) -> None:
        await context.call(GO, {}, {"id": voyage})
        await context.call(HAIL, {"name": name})

    run = world.start(sailing)
    for _ in range(3):
        work()
    failure = Failure.objects.get(call=run).id

    def look() -> None:
        if Failure.objects.filter(id=failure).exists():
            failures.retry(failure, "ann")
            recover(world)
        assert world.ended(run).outcome == "made"
        assert (world.miles(voyage), keys(world, name)) == (1, 1)

    return lambda: failures.retry(failure, "ann"), look


CASES: dict[str, Callable[[Voyages], Prepared]] = {
    "start": start,
    "event": receive,
    "go on": go_on,
    "effect": call_effect,
    "watch": deliver,
    "try again": fail_and_try,
    "cancel": cancel,
    "deadline": exceed,
    "retry": retry_failure,
}


@pytest.mark.parametrize("every", SHARES)
def test_a_death_anywhere_on_the_way_of_a_run_is_put_right(world, every, capsys):
    told = []
    for case, prepared in CASES.items():
        deaths = 0
        looks: list[Callable[[], object]] = []

        def prepare(prepared: Any = prepared, looks: Any = looks) -> Callable[[], object]:
            action, look = prepared(world)
            looks.append(look)
            return action

        for place in everywhere(prepare, every=every):
            deaths += 1
            recover(world)
            try:
                looks[-1]()
            except AssertionError as error:
                raise AssertionError(f"{case}, {place}: {error}") from error
        recover(world)
        looks[-1]()
        assert not Failure.objects.exists()
        assert not (Run.objects.exists() or RunStep.objects.exists() or RunCall.objects.exists())
        told.append(f"  run: {case:<12}{deaths:>6} deaths")
    runs = Counter(History.objects.filter(source="run").exclude(outcome="failed").values_list("call", flat=True))
    assert set(runs.values()) == {1}
    with capsys.disabled():
        print("\n" + "\n".join(told))


@pytest.mark.parametrize(("steps", "kills"), KILLS)
def test_a_run_killed_at_random_ends_as_one_that_never_was(world, steps, kills):
    def script(voyage: str) -> Callable[..., Any]:
        async def mixed(input: Any, context: Any) -> Any:
            async def one(number: int) -> None:
                match number % 6:
                    case 0 | 3:
                        await context.call(GO, {"note": number}, {"id": voyage})
                    case 1:
                        await context.call(HAIL, {"name": f"{voyage} {number}"})
                    case 2:
                        await time.sleep(10)
                    case 4:
                        await context.call("components.voyages.muse", {"value": await time.now()})
                    case _:
                        await time.with_deadline("1h", lambda: context.call(GO, {"by": 0}, {"id": voyage}))

            for number in range(steps):
                await retry.exponential(lambda number=number: one(number), attempts=3)
            state = await context.call("components.voyages.observe", None, {"id": voyage})
            return {"miles": state.miles, "log": state.log, "version": state.VERSION}

        return mixed

    dice = random.Random(7)
    results = []
    for killed in (False, True):
        voyage = world.create()
        run = world.start(script(voyage))
        died = 0
        while killed and died < kills and Run.objects.exists():
            try:
                with crash(dice.randrange(3, 6 * steps // kills + 12), after=dice.random() < 0.5):
                    while Run.objects.exists():
                        work()
                        world.clock.set(world.clock.now + 10)
            except Crash:
                died += 1
                connections[toa_settings.alias()].close()
                world.clock.set(world.clock.now + 2_500)
        while Run.objects.exists():
            work()
            world.clock.set(world.clock.now + 500)
        assert died == (kills if killed else 0)
        results.append(world.ended(run).result)
        names = [name for name, _ in world.hailed if name.startswith(voyage)]
        assert len({name for name, _ in world.hailed if name.startswith(voyage)}) == len(
            {key for name, key in world.hailed if name.startswith(voyage)}
        )
        assert killed or len(names) == len(set(names))
    assert results[0] == results[1]
    assert results[0]["log"] == [number for number in range(steps) if number % 3 == 0]
    assert EndedRun.objects.count() == 2
