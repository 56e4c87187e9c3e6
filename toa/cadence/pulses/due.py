"""Pulses as a source of due work: one call for each boundary of a fixed grid, never two at a time."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from toa.cadence.calls.leases import running
from toa.cadence.declared import in_force
from toa.cadence.pulses.beginning import start, waits_for_a_run
from toa.cadence.pulses.boundaries import begin, cause_of, due_of, grid_of, key_of, lapse, reach, settle, waits
from toa.cadence.pulses.sweeping import sweep
from toa.cadence.source import BACKSTOP_MS, Dispatch, Hint, Step
from toa.core.calling import Call, Lease
from toa.core.clock import to_datetime
from toa.core.error import Error
from toa.core.specs import OperationType
from toa.core.traces import sentence
from toa.exceptions import LeaseLost
from toa.models import Outcome, Pulse
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Operation
from toa.runtime.calls import perform
from toa.runtime.requests import prepare
from toa.runtime.swept import is_swept, told

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
        return sql, [list(in_force().pulsed)]

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        now = clock.database_now()
        hints: list[Hint] = []
        with transaction.atomic(using=settings.alias()):
            due = _rows().filter(endpoint__in=in_force().pulsed, wake_at__lte=to_datetime(now))
            found = list(due.order_by("wake_at", "id")[:limit])
            for pulse in found:
                if pulse.token is not None:
                    lapse(pulse, now)
                if reach(pulse, now) and not waits_for_a_run(pulse, now):
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
        make(operation, pulse, renew=renew)
        return True


PULSES = Pulses()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How a call of a pulse ended."""

    outcome: Outcome
    code: str = ""
    cause: dict[str, Any] | None = None
    """Of a sweep: its counts and first errors, for the line of history."""
    reply: Any = None
    """What it replied, an Error included."""
    error: Exception | None = None
    """What it raised."""


def make(operation: Operation, pulse: Pulse, *, renew: bool) -> Made:
    """Run the call of a pulse that was leased, and settle it; a lease that was lost is settled by who has it."""
    assert pulse.token is not None
    lease = Lease(table="toa_pulse", id=pulse.id, token=pulse.token)
    try:
        with running(lease, operation.spec, renewing=renew):
            reply = _run(operation, pulse, lease)
    except LeaseLost as error:
        logger.warning("%s lost its lease", pulse.endpoint, extra={"action": "lease_lost", "call": pulse.id.hex})
        return Made(outcome=Outcome.LAPSED, error=error)
    except Exception as error:
        logger.exception("%s failed", pulse.endpoint, extra={"action": "failure", "call": pulse.id.hex})
        made = Made(outcome=Outcome.FAILED, code=sentence(error), error=error)
    else:
        made = _made(pulse, reply)
    _finish(pulse, made)
    return made


def _rows() -> QuerySet[Pulse]:
    return Pulse.objects.using(settings.alias()).select_for_update(skip_locked=True, no_key=True)


def _lease(operation: Operation) -> Pulse | None:
    now = clock.database_now()
    soon = to_datetime(now + BACKSTOP_MS)
    with transaction.atomic(using=settings.alias()):
        waiting = _rows().filter(endpoint=operation.endpoint, token=None, wake_at__lte=soon)
        for pulse in waiting.order_by("wake_at", "id"):
            if not waits(pulse, now):
                continue
            if reach(pulse, now):
                begin(pulse, now, operation.spec.lease_ms)
                pulse.save()
                return pulse
            pulse.save()
    return None


def _run(operation: Operation, pulse: Pulse, lease: Lease) -> Any:
    assert pulse.running is not None
    call = Call(
        endpoint=operation.endpoint,
        key=key_of(pulse),
        due=due_of(pulse),
        caller=f"pulse:{pulse.endpoint}",
        cause={"source": "pulse", "endpoint": pulse.endpoint, **cause_of(pulse)},
        lease=lease,
    )
    if pulse.query is not None:
        return sweep(operation, pulse.query, pulse.input, call)
    input = grid_of(pulse).input_of(pulse.running)
    if operation.spec.type is OperationType.WORKFLOW:
        return start(operation, pulse, input, call)
    return perform(operation, prepare(operation, input), call)


def _made(pulse: Pulse, reply: Any) -> Made:
    if isinstance(reply, Error):
        return Made(outcome=Outcome.REFUSED, code=reply.code, reply=reply)
    if is_swept(reply):
        return Made(outcome=Outcome.MADE, code=told(reply), cause={"swept": reply}, reply=reply)
    return Made(outcome=Outcome.MADE, reply=reply)


def _finish(leased: Pulse, made: Made) -> None:
    now = clock.database_now()
    with transaction.atomic(using=settings.alias()):
        mine = Pulse.objects.using(settings.alias()).select_for_update().filter(id=leased.id, token=leased.token)
        pulse = mine.first()
        if pulse is None:
            logger.warning(
                "%s ended without its lease", leased.endpoint, extra={"action": "lease_lost", "call": leased.id.hex}
            )
            return
        settle(pulse, made.outcome, made.code, now, made.cause)
        pulse.save()
