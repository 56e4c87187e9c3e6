"""A locked row of `Pulse` and its boundaries: reached, called, missed, skipped, each recorded."""

from __future__ import annotations

from typing import Any, TypeAlias
from uuid import uuid4

from toa.core.clock import to_datetime, to_moment
from toa.core.grid import Grid
from toa.core.identity import digest
from toa.models import Outcome, Pulse
from toa.runtime.journal import Settled, write_history

Cause: TypeAlias = dict[str, Any] | None
"""What the lines of history say beside which pulse they are of."""

DIED = "the process died running it"
STILL_RUNNING = "the call before it still ran"
NOBODY = "nobody called them in time"


def grid_of(pulse: Pulse) -> Grid:
    """The grid of a stored pulse."""
    return Grid(cycle_ms=pulse.cycle_ms, intervals=pulse.intervals)


def rests(pulse: Pulse) -> bool:
    """Whether no boundary is called: the pulse is paused or retired."""
    return pulse.paused_at is not None or pulse.retired_at is not None


def reach(pulse: Pulse, now: int, cause: Cause = None) -> bool:
    """Bring a pulse up to now: whether it may be called, after recording the boundaries it is too late for."""
    if pulse.fire_at is not None:
        return True
    if rests(pulse):
        pulse.wake_at = None
        return False
    grid = grid_of(pulse)
    ordinal = grid.ordinal(now)
    in_time = now - grid.boundary(ordinal) <= grid.grace_ms
    last_missed = ordinal - 1 if in_time else ordinal
    if last_missed > pulse.cursor:
        pass_over(pulse, Outcome.MISSED, last_missed, now, NOBODY, cause)
    if ordinal > pulse.cursor:
        return True
    pulse.wake_at = to_datetime(grid.next_after(max(now, grid.boundary(pulse.cursor))))
    return False


def paused(pulse: Pulse) -> str:
    """Why a paused pulse does not call, for the history."""
    return f"paused by {pulse.paused_by}" if pulse.paused_by else "paused"


def waits(pulse: Pulse, now: int) -> bool:
    """Whether a call of the pulse is due that nobody runs."""
    return pulse.token is None and (pulse.fire_at is not None or grid_of(pulse).ordinal(now) > pulse.cursor)


def begin(pulse: Pulse, now: int, lease_ms: int) -> None:
    """Put a lease on the pulse: its call runs from now on."""
    pulse.running = grid_of(pulse).ordinal(now)
    pulse.started_at = to_datetime(now)
    pulse.token = uuid4()
    pulse.wake_at = to_datetime(now + lease_ms)


def due_of(pulse: Pulse) -> int:
    """The moment that the running call was planned for, epoch ms."""
    assert pulse.running is not None
    return grid_of(pulse).boundary(pulse.running) if pulse.fire_at is None else to_moment(pulse.fire_at)


def key_of(pulse: Pulse) -> str:
    """The stable key of the running call."""
    asked = [] if pulse.fire_at is None else [to_moment(pulse.fire_at)]
    return digest("pulse", pulse.endpoint, pulse.name, pulse.running, *asked)[:40]


def settle(pulse: Pulse, outcome: Outcome, code: str, now: int, cause: Cause = None) -> None:
    """The call is over: record it, and what passed while it ran; then the next boundary is waited for."""
    _record(pulse, outcome, code, now, cause)
    if rests(pulse):
        pulse.wake_at = None
        return
    grid = grid_of(pulse)
    current = grid.ordinal(now)
    if current > pulse.cursor:
        pass_over(pulse, Outcome.SKIPPED, current, now, STILL_RUNNING, cause)
    pulse.wake_at = to_datetime(grid.next_after(max(now, grid.boundary(pulse.cursor))))


def lapse(pulse: Pulse, now: int) -> None:
    """The process that ran the call is gone: its boundary is over, and the pulse goes on."""
    _record(pulse, Outcome.LAPSED, DIED, now, None)


def pass_over(pulse: Pulse, outcome: Outcome, last: int, now: int, why: str, cause: Cause = None) -> None:
    """Record the boundaries from the cursor to `last` as not called, in one line, and move the cursor there."""
    grid, first = grid_of(pulse), pulse.cursor + 1
    begins, ends = grid.boundary(first), grid.boundary(last)
    span = f"{to_datetime(begins):%Y-%m-%d %H:%M:%S}"
    if last > first:
        span = f"{last - first + 1} from {span} to {to_datetime(ends):%Y-%m-%d %H:%M:%S}"
    write_history(
        [
            Settled(
                call=pulse.id,
                source="pulse",
                endpoint=pulse.endpoint,
                outcome=outcome,
                code=f"{why}: {span}",
                due=begins,
                at=now,
                count=last - first + 1,
                cause=cause_of(pulse) | (cause or {}) | {"first": begins, "last": ends},
            )
        ]
    )
    pulse.cursor = last


def cause_of(pulse: Pulse) -> dict[str, Any]:
    """What a call of the pulse, and its line of history, say about where it comes from."""
    cause = {"pulse": pulse.id.hex}
    return cause | {"asked_by": pulse.fire_by} if pulse.fire_at is not None else cause


def _record(pulse: Pulse, outcome: Outcome, code: str, now: int, cause: Cause) -> None:
    assert pulse.running is not None
    line = Settled(
        call=pulse.id,
        source="pulse",
        endpoint=pulse.endpoint,
        outcome=outcome,
        code=code,
        due=due_of(pulse),
        at=now,
        started=None if pulse.started_at is None else to_moment(pulse.started_at),
        cause=cause_of(pulse) | (cause or {}),
    )
    write_history([line])
    if pulse.fire_at is None:
        # A grid changed while the call ran may have put the cursor elsewhere already.
        pulse.cursor = max(pulse.cursor, pulse.running)
    pulse.running = pulse.token = pulse.started_at = pulse.fire_at = None
    pulse.fire_by = ""
