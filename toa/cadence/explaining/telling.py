"""Facts about an object as sentences for people. Moments are shown in UTC, with their distance from now."""

from __future__ import annotations

from collections.abc import Iterator

from toa.cadence.explaining.facts import Acting, Alive, Armed, Commit, Facts, Line, Moment, OnItsWay, Rhythm, Unmade
from toa.core.clock import to_datetime
from toa.core.deadlines import CLOSED, DISCARDED, DRAINING, FAILED
from toa.core.duration import SECOND_MS, format_duration


def tell(facts: Facts) -> list[str]:
    """What is due and when, what was reached, set, moved or cleared by whom, what holds what, and whether anybody
    is running: one sentence each, the present first."""
    alive = running(facts.alive)
    # Where nobody runs anything, that explains most of what follows.
    first, last = ([], [alive]) if facts.alive.anybody else ([alive], [])
    return [
        *_object(facts),
        *first,
        *(_moment(one, facts) for one in facts.moments),
        *_instance(facts),
        *(_delivery(one, facts.now) for one in facts.deliveries),
        *_calls(facts),
        *(_run(one, facts.now) for one in facts.runs),
        *(_rhythm(one, facts) for one in facts.rhythms),
        *(_commit(one, facts.now) for one in facts.commits),
        *(settled(one, facts.now) for one in facts.lines),
        *(f"{one} keeps an object of the same id: see toa explain {one} {facts.id}." for one in facts.related),
        *last,
    ]


def settled(one: Line, now: int) -> str:
    """What became of a call, in a sentence."""
    outcome = one.outcome if one.outcome in ("failed", "lapsed") else f"was {one.outcome}"
    code = f": {one.code}" if one.code else ""
    started = f"; it started the run {one.started}" if one.started else ""
    return f"{one.endpoint}, a {one.source} due {when(one.due, now)}, {outcome}{code} ({when(one.at, now)}){started}."


def when(moment: int, now: int) -> str:
    """A moment (epoch ms) and how far from now it is."""
    at = to_datetime(moment)
    text = f"{at:%Y-%m-%d %H:%M:%S}" + (f".{moment % 1000:03d}" if moment % 1000 else "") + " UTC"
    distance = abs(moment - now)
    if distance >= 10 * SECOND_MS:
        distance -= distance % SECOND_MS
    if not distance:
        return f"{text}, now"
    return f"{text}, in {format_duration(distance)}" if moment > now else f"{text}, {format_duration(distance)} ago"


def _object(facts: Facts) -> Iterator[str]:
    name = f"{facts.component} {facts.id}"
    if not facts.found:
        yield f"{name} does not exist: nothing was ever written under this id, or its row was removed."
    elif facts.deleted is not None:
        yield f"{name} was deleted {when(facts.deleted, facts.now)}: nothing runs by itself for it."
    else:
        yield f"{name} is at version {facts.version}, last changed {when(facts.updated, facts.now)}."


_RESTING = {
    FAILED: "is parked with its process",
    DRAINING: "has its turn as its process is brought up to date",
    DISCARDED: "never runs",
    CLOSED: "never runs",
}
"""What becomes of a deadline while its process does not run by itself, by the process's state."""


def _moment(one: Moment, facts: Facts) -> str:
    name, target = one.property, f", for {one.transition}" if one.transition else ""
    if one.value is None:
        how = _how(one, facts, "cleared")
        return f"{name} is not set: nothing is due{how}." if one.transition else f"{name} is not set{how}."
    how = _how(one, facts, "set")
    if one.transition is not None and facts.state in _RESTING:
        return f"{name} is set to {when(one.value, facts.now)}{target}, and {_RESTING[facts.state]}{how}."
    if one.value > facts.now:
        return f"{name} is not due yet: {when(one.value, facts.now)}{target}{how}."
    if one.transition is None:
        return f"{name} has passed: {when(one.value, facts.now)}{how}."
    return f"{name} is due since {when(one.value, facts.now)}{target}, and was not reached{how}."


def _how(one: Moment, facts: Facts, did: str) -> str:
    if one.last is None:
        return ""
    if one.outside:
        after = one.last.changes[one.property][1]
        left = "clear" if after is None else when(after, facts.now)
        return f"; it was {did} beside operations, after {_who(one.last, facts.now)} left it {left}"
    before = one.last.changes[one.property][0]
    verb = "moved" if did == "set" and before is not None else did
    return f"; {verb} by {_who(one.last, facts.now)}"


def _who(commit: Commit, now: int) -> str:
    return f"{commit.endpoint} (version {commit.version}, called by {commit.by}, {when(commit.at, now)})"


def _instance(facts: Facts) -> Iterator[str]:
    for one in facts.stopped:
        what = one.property or f"a {one.source}"
        yield (
            f"{what} failed {when(one.at, facts.now)} after {one.attempts} attempt{'' if one.attempts == 1 else 's'}"
            f" of {one.endpoint}: {one.error} (failure {one.id})."
        )
    if facts.state == FAILED:
        yield "Its process has failed: its deadlines and the events that come to it are parked until a retry."
    elif facts.state == DRAINING:
        yield "Its process is being brought up to date after a retry: what was parked is done in order."
    elif facts.state == DISCARDED:
        yield "Its failure was discarded: nothing runs by itself for it any more."
    elif facts.state == CLOSED:
        yield "Its process is closed: no deadline, time-out or event runs for it any more."
    if facts.held is not None:
        yield f"It is held until {when(facts.held.until, facts.now)}: {facts.held.why}."


def _delivery(one: OnItsWay, now: int) -> str:
    way = "on its way to it" if one.incoming else "raised by it, on its way"
    start = f"{one.event} of {when(one.happened, now)}, {way} ({one.endpoint}),"
    if one.wake is None:
        return f"{start} is parked behind {one.behind or 'what its process still has to do'}."
    if one.behind:
        return f"{start} waits behind {one.behind}."
    if one.unmade is not None:
        return f"{start} is made by nobody: {until_it_fails(one.unmade, now)}."
    return f"{start} is due {when(one.wake, now)}{tried(one.attempts, one.error)}."


def tried(attempts: int, error: str) -> str:
    """How often a call was tried, and what the last try ended in; empty where it never was."""
    if not attempts:
        return ""
    last = f", the last of which ended in {error}" if error else ""
    return f", after {attempts} attempt{'' if attempts == 1 else 's'}{last}"


def until_it_fails(one: Unmade, now: int) -> str:
    """Why nobody here can make a call, and what becomes of it."""
    return f"{one.reason}; it waits for code that does, and fails {when(one.fails, now)}"


def _calls(facts: Facts) -> Iterator[str]:
    for one in facts.armed:
        yield _armed(one, facts.now)
    if facts.armed_cut:
        yield "There may be more stored calls aimed at it: only the next of each endpoint were looked through."


def _armed(one: Armed, now: int) -> str:
    whose = "It armed a call of" if one.own else "A stored call is aimed at it,"
    if one.running:
        return f"{whose} {one.endpoint} (delay {one.id}), which is being made."
    if one.wake is None:
        return f"{whose} {one.endpoint} (delay {one.id}), which is parked."
    if one.unmade is not None:
        due = when(one.due, now)
        return f"{whose} {one.endpoint} (delay {one.id}), due {due}: {until_it_fails(one.unmade, now)}."
    yet = "not due yet" if one.due > now else "due"
    again = f"; tried again {when(one.wake, now)}{tried(one.attempts, one.error)}" if one.attempts else ""
    return f"{whose} {one.endpoint} (delay {one.id}), {yet}: {when(one.due, now)}{again}."


_STANDS = {
    "due": "is due since {}",
    "sleeping": "sleeps until {}",
    "waiting": "waits for an effect",
    "cancelling": "was asked to end, and cleans up",
    "failed": "has failed, and rests until somebody decides",
    "gone": "has ended, and no record of it is kept",
}
"""Where a run is, by its state."""


def _run(one: Acting, now: int) -> str:
    name = f"The run {one.id}{f' of {one.endpoint}' if one.endpoint else ''}"
    did = "was started by a call told of here" if one.changed is None else f"changed it last {when(one.changed, now)}"
    if one.state == "gone":
        return f"{name} {did}; it {_STANDS[one.state]}."
    moment = "a moment that never comes" if one.moment is None else when(one.moment, now)
    stands = f"ended {moment}: {one.state}" if one.ended else _STANDS[one.state].format(moment)
    return f"{name} {did}; it {stands}: see toa explain run {one.id}."


def _rhythm(one: Rhythm, facts: Facts) -> str:
    name = f"The {one.kind} {one.endpoint}{f'#{one.name}' if one.name else ''}"
    if not one.declared:
        what = "selects in its own code, so whether it will call this object is not known here"
    elif one.fits:
        what = f"sweeps what fits {one.criteria!r}, as it does"
    elif one.fits_from is not None:
        what = f"sweeps what fits {one.criteria!r}, as it will from {when(one.fits_from, facts.now)}"
    else:
        what = f"sweeps what fits {one.criteria!r}, which it does not"
    if one.paused is not None:
        by = f" by {one.paused_by}" if one.paused_by else ""
        return f"{name} is paused{by} since {when(one.paused, facts.now)}; it {what}."
    coming = "has no call coming" if one.next is None else f"comes {when(one.next, facts.now)}"
    return f"{name} {what}; it {coming}."


def _commit(one: Commit, now: int) -> str:
    did = [f"{name} {_change(change, now)}" for name, change in sorted(one.changes.items())]
    if one.reached:
        did.insert(0, f"{one.reached} was reached")
    beside = "; the row had been changed beside operations before" if one.outside else ""
    return f"At {when(one.at, now)}, version {one.version}, {one.endpoint} by {one.by}: {', '.join(did)}{beside}."


def _change(change: list[int | None], now: int) -> str:
    before, after = change
    if after is None:
        return "was cleared"
    return f"was {'set' if before is None else 'moved'} to {when(after, now)}"


def running(alive: Alive) -> str:
    """Who does what comes due, in a sentence."""
    counts = (
        ("beat", alive.beats),
        ("worker", alive.workers),
        ("toa run", alive.runners),
    )
    said = ", ".join(f"{number} {name}" for name, number in counts if number)
    if alive.anybody:
        other = "" if alive.beats or alive.runners else "; ticks come from another scheduler"
        return f"Running: {said}{other}."
    lacks = "no beat and no worker" if not said else f"only {said}"
    return f"Nobody is running what comes due: {lacks} alive. Start beat and a worker, or manage.py toa run."
