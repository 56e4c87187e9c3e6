"""The facts about a run, in sentences. Moments are told in UTC, with their distance from now."""

from __future__ import annotations

from collections.abc import Iterator

from toa.cadence.calls.settling import STRIKES
from toa.cadence.explaining.telling import running, settled, tried, until_it_fails, when
from toa.workflow.explaining.facts import Awaited, Effect, RunFacts
from toa.workflow.journals import Sketch


def tell(facts: RunFacts) -> list[str]:
    """All of it, one sentence each: the present first, then what it did last, and what was settled for it."""
    return [
        *tell_present(facts),
        *_steps(facts),
        *(settled(one, facts.now) for one in facts.lines),
    ]


def tell_present(facts: RunFacts) -> list[str]:
    """Where the run is and since when, when it goes on or what has to happen first, what is wrong, what started it,
    and whether anybody is running."""
    alive = running(facts.alive)
    concerns = facts.ended is None and not facts.alive.anybody
    return [
        _head(facts),
        *([alive] if concerns else ()),
        *(_present(facts) if facts.ended is None else ()),
        *_start(facts),
        *(() if concerns else (alive,)),
    ]


def _head(facts: RunFacts) -> str:
    key = f" with the key {facts.key!r}" if facts.key else ""
    name = f"The run {facts.id} of {facts.endpoint}{key}"
    if facts.ended is not None:
        why = f": {facts.result}" if facts.result else ""
        became = "failed, and was let go" if facts.state == "failed" else f"was {facts.state}"
        return f"{name} ended {when(facts.ended, facts.now)}; it {became}{why}."
    since = when(facts.since, facts.now)
    match facts.state:
        case "due" if not facts.begun:
            return f"{name} is due since {since}, and has not begun: nothing has to happen before it does."
        case "due":
            return f"{name} is due since {since}: nothing has to happen before it goes on."
        case "failed":
            return f"{name} rests since {since}, after a failure."
        case "cancelling":
            return f"{name} is to end, since {since}."
        case _:
            return f"{name} waits since {since}."


def _present(facts: RunFacts) -> Iterator[str]:
    if facts.failure is not None:
        yield _failure(facts)
    elif facts.state == "failed":
        yield f"No failure of it is kept: manage.py toa runs cancel {facts.id} takes it away."
    if facts.cancel is not None:
        yield (
            f"Its end was asked for by {facts.cancel.by or 'code'}: its function is told where it waits, and cleans up"
            " for a minute at most."
        )
    if facts.unmade is not None:
        yield f"No code here can go on with it: {until_it_fails(facts.unmade, facts.now)}."
    told = facts.cancel is not None and facts.wakes is not None and facts.wakes <= facts.now
    if facts.waits is not None and not told:
        yield from _waits(facts, facts.waits)
    if facts.strikes:
        yield _strikes(facts.strikes)
    for one in facts.hands:
        yield f"The process {one} has it in hand, or died over it."
    for watch in facts.watches:
        name = f"Its watch {watch.name!r}" if not watch.name.startswith("#") else f"Its watch at step {watch.name[1:]}"
        yield f"{name} is done up to {when(watch.cursor, facts.now)}."


def _failure(facts: RunFacts) -> str:
    assert facts.failure is not None
    failure = facts.failure
    back = "from where it stands" if facts.step is None else f"from step {facts.step}"
    return (
        f"It failed {when(failure.at, facts.now)}: {failure.error} (failure {failure.id})."
        f" After manage.py toa runs retry {facts.id} it goes on {back}; discard lets it go for good."
    )


def _waits(facts: RunFacts, waits: Awaited) -> Iterator[str]:
    wake = None if facts.wakes is None else when(facts.wakes, facts.now)
    until = None if waits.until is None else when(waits.until, facts.now)
    over = waits.until is not None and waits.until <= facts.now
    what = f"At step {waits.position} it waits"
    match waits.kind:
        case "call" if facts.attempts:
            again = f"is tried again {wake}" if wake else "is to be tried again"
            yield f"Its step {waits.position}, {waits.name}, {again}{tried(facts.attempts, facts.error)}."
            return
        case "call":
            yield f"{what} for {waits.name}, an effect, and goes on once that is settled."
            if facts.effect is not None:
                yield from _effect(facts.effect, facts.now)
        case "occurrence" if until is None:
            yield f"{what} for an occurrence of its watch, which has none any more."
        case "occurrence":
            yield f"{what} for the occurrence {until}{', which is there' if over else ''}."
        case "back-off":
            yield f"{what} for the next try, {until}{f': it {waits.note}' if waits.note else ''}."
        case _:
            yield f"{what} for the moment {until}{', which is reached' if over else ''}."
    if facts.wakes is not None and facts.wakes > facts.now and facts.wakes != waits.until:
        ends = "its time to clean up is over" if facts.cancel else "a deadline around this step is over"
        yield f"It is woken {wake}, when {ends}."


def _effect(effect: Effect, now: int) -> Iterator[str]:
    name = f"{effect.endpoint} (call {effect.id})"
    past = tried(effect.attempts, effect.error)
    if effect.unmade is not None:
        yield f"{name} is made by nobody: {until_it_fails(effect.unmade, now)}."
    elif effect.wake is None:
        yield f"{name} is parked."
    elif effect.running and effect.wake > now:
        yield f"{name} is being made, under a lease that ends {when(effect.wake, now)}{past}."
    elif effect.running:
        yield f"{name} was being made by a process that is gone: it is made again under the same key{past}."
    elif effect.wake > now:
        yield f"{name} is tried again {when(effect.wake, now)}{past}."
    else:
        yield f"{name} is due since {when(effect.wake, now)}: a worker takes it next{past}."
    if effect.strikes:
        yield _strikes(effect.strikes)


def _strikes(strikes: int) -> str:
    times = "once" if strikes == 1 else f"{strikes} times"
    return f"It took its process with it, or its time, {times}; with {STRIKES} it fails."


def _start(facts: RunFacts) -> Iterator[str]:
    planned = "" if facts.planned == facts.started else f"; it was planned for {when(facts.planned, facts.now)}"
    yield f"It was started {when(facts.started, facts.now)} by {facts.by}{planned}."
    for one in facts.paused:
        name = f"{facts.endpoint}{f'#{one.name}' if one.name else ''}"
        by = f" by {one.by}" if one.by else ""
        yield f"The {one.kind} {name} is paused{by} since {when(one.since, facts.now)}: it starts no other run."


def _steps(facts: RunFacts) -> Iterator[str]:
    for step in reversed(facts.steps):
        yield _step(step, facts.now)
    before = facts.done - len(facts.steps)
    if before > 0:
        yield f"{before} steps were done before these: see toa runs show {facts.id}."


def _step(step: Sketch, now: int) -> str:
    note = f": {step.note}" if step.note else ""
    return f"Step {step.position}, {f'{step.kind} {step.name}'.strip()}, {step.outcome}{note} ({when(step.at, now)})."
