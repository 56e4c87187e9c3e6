"""Pulses as a source of due work: one call for each boundary of a fixed grid, never two at a time."""

from __future__ import annotations

import logging
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet

from toa.cadence.leases import renewed
from toa.cadence.outcomes import sentence
from toa.cadence.source import BACKSTOP_MS, Dispatch, Hint, Step
from toa.cadence.sweeping import sweep
from toa.core.calling import Call, Lease
from toa.core.clock import to_datetime, to_moment
from toa.core.error import Error
from toa.core.grid import Grid
from toa.core.identity import digest
from toa.exceptions import LeaseLost
from toa.manifests import registry
from toa.models import Outcome, Pulse
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Operation
from toa.runtime.calls import perform
from toa.runtime.journal import Settled, write_history
from toa.runtime.requests import prepare

logger = logging.getLogger("toa.cadence")


class Pulses:
    """The rows of `Pulse` as a source."""

    name = "pulse"

    def lower(self, moment: int) -> None:
        """Pulses are few: they are always looked at from the beginning."""

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        now = clock.clock().expression()
        sql = (
            f"SELECT min(p.wake_at) FILTER (WHERE p.wake_at <= {now}),"
            f" max(p.wake_at) FILTER (WHERE p.wake_at <= {now}),"
            f" min(p.wake_at) FILTER (WHERE p.wake_at > {now})"
            f" FROM toa_pulse p WHERE p.endpoint = ANY(%s)"
        )
        return sql, [_endpoints()]

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        now = clock.database_now()
        hints: list[Hint] = []
        with transaction.atomic(using=settings.alias()):
            due = _rows().filter(endpoint__in=_endpoints(), wake_at__lte=to_datetime(now)).order_by("wake_at", "id")
            found = list(due[:limit])
            for pulse in found:
                if pulse.token is not None:
                    _lapse(pulse, now)
                if _reach(pulse, now):
                    pulse.wake_at = to_datetime(now + BACKSTOP_MS)
                    hints.append(Hint(self.name, pulse.endpoint))
                pulse.save()
        for hint in hints:
            dispatch.hint(hint)
        return Step(settled=len(found), full=len(found) >= limit)

    def waiting(self, endpoint: str) -> bool:
        """A pulse has one call at a time."""
        return False

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        operation = bindings.operation(endpoint)
        pulse = _lease(operation)
        if pulse is None:
            return False
        assert pulse.token is not None
        lease = Lease(table="toa_pulse", id=pulse.id, token=pulse.token)
        outcome, code = Outcome.MADE, ""
        with renewed(lease, operation.spec.lease_ms, renewing=renew):
            try:
                reply = _run(operation, pulse, lease)
            except LeaseLost:
                logger.warning("%s lost its lease", endpoint, extra={"action": "lease_lost", "call": pulse.id.hex})
                return True
            except Exception as error:
                logger.exception("%s failed", endpoint, extra={"action": "failure", "call": pulse.id.hex})
                outcome, code = Outcome.FAILED, sentence(error)
            else:
                if isinstance(reply, Error):
                    outcome, code = Outcome.REFUSED, reply.code
                elif pulse.query is not None:
                    code = ", ".join(f"{count} {what}" for what, count in reply.items() if count)
        _finish(pulse, outcome, code)
        return True


PULSES = Pulses()


def grid_of(pulse: Pulse) -> Grid:
    """The grid of a stored pulse."""
    return Grid(cycle_ms=pulse.cycle_ms, intervals=pulse.intervals)


def _endpoints() -> list[str]:
    return [spec.endpoint(pulse.operation) for spec in registry.all().values() for pulse in spec.pulses]


def _rows() -> QuerySet[Pulse]:
    return Pulse.objects.using(settings.alias()).select_for_update(skip_locked=True, no_key=True)


def _reach(pulse: Pulse, now: int) -> bool:
    """Bring a locked pulse up to now: whether a boundary may be called, after recording those it is too late for."""
    grid = grid_of(pulse)
    ordinal = grid.ordinal(now)
    boundary = grid.boundary(ordinal)
    in_time = now - boundary <= grid.grace_ms
    last_missed = ordinal - 1 if in_time else ordinal
    if last_missed > pulse.cursor:
        _pass_over(pulse, Outcome.MISSED, last_missed, now)
    if ordinal > pulse.cursor:
        return True
    pulse.wake_at = to_datetime(grid.next_after(max(now, grid.boundary(pulse.cursor))))
    return False


def _pass_over(pulse: Pulse, outcome: Outcome, last: int, now: int) -> None:
    """Record the boundaries from the cursor to `last` as not called, in one line, and move the cursor there."""
    grid, first = grid_of(pulse), pulse.cursor + 1
    write_history(
        [
            Settled(
                call=pulse.id,
                source="pulse",
                endpoint=pulse.endpoint,
                outcome=outcome,
                code=f"boundaries {to_datetime(grid.boundary(first))} to {to_datetime(grid.boundary(last))}",
                due=grid.boundary(first),
                at=now,
                count=last - first + 1,
            )
        ]
    )
    pulse.cursor = last


def _lapse(pulse: Pulse, now: int) -> None:
    """The process that ran the last call is gone: its boundary is over, and the pulse goes on."""
    assert pulse.running is not None
    write_history([_line(pulse, Outcome.LAPSED, "the process died running it", now)])
    _release(pulse, pulse.running)


def _lease(operation: Operation) -> Pulse | None:
    now = clock.database_now()
    soon = to_datetime(now + BACKSTOP_MS)
    with transaction.atomic(using=settings.alias()):
        waiting = _rows().filter(endpoint=operation.endpoint, token=None, wake_at__lte=soon)
        for pulse in waiting.order_by("wake_at", "id"):
            if grid_of(pulse).ordinal(now) <= pulse.cursor:
                continue
            if _reach(pulse, now):
                pulse.running = grid_of(pulse).ordinal(now)
                pulse.started_at = to_datetime(now)
                pulse.token = uuid4()
                pulse.wake_at = to_datetime(now + operation.spec.lease_ms)
                pulse.save()
                return pulse
            pulse.save()
    return None


def _run(operation: Operation, pulse: Pulse, lease: Lease) -> Any:
    assert pulse.running is not None
    call = Call(
        endpoint=operation.endpoint,
        key=digest("pulse", pulse.endpoint, pulse.name, pulse.running)[:40],
        due=grid_of(pulse).boundary(pulse.running),
        caller=f"pulse:{pulse.endpoint}",
        cause={"source": "pulse", "endpoint": pulse.endpoint},
        lease=lease,
    )
    if pulse.query is not None:
        return sweep(operation, pulse.query, pulse.input, call)
    return perform(operation, prepare(operation, grid_of(pulse).input_of(pulse.running)), call)


def _finish(leased: Pulse, outcome: Outcome, code: str) -> None:
    now = clock.database_now()
    with transaction.atomic(using=settings.alias()):
        pulse = (
            Pulse.objects.using(settings.alias()).select_for_update().filter(id=leased.id, token=leased.token).first()
        )
        if pulse is None:
            logger.warning(
                "%s ended without its lease", leased.endpoint, extra={"action": "lease_lost", "call": leased.id.hex}
            )
            return
        assert pulse.running is not None
        write_history([_line(pulse, outcome, code, now)])
        _release(pulse, pulse.running)
        current = grid_of(pulse).ordinal(now)
        if current > pulse.cursor:
            _pass_over(pulse, Outcome.SKIPPED, current, now)
        if pulse.paused_at is None and pulse.retired_at is None:
            pulse.wake_at = to_datetime(grid_of(pulse).next_after(now))
        else:
            pulse.wake_at = None
        pulse.save()


def _release(pulse: Pulse, ordinal: int) -> None:
    # A grid changed while the call ran may have put the cursor elsewhere already.
    pulse.cursor = max(pulse.cursor, ordinal)
    pulse.running = pulse.token = pulse.started_at = None


def _line(pulse: Pulse, outcome: Outcome, code: str, now: int) -> Settled:
    assert pulse.running is not None
    return Settled(
        call=pulse.id,
        source="pulse",
        endpoint=pulse.endpoint,
        outcome=outcome,
        code=code,
        due=grid_of(pulse).boundary(pulse.running),
        at=now,
        started=None if pulse.started_at is None else to_moment(pulse.started_at),
    )
