"""Pulses whose operation is a workflow: a boundary starts a run, and none is called while one is under way."""

from __future__ import annotations

from django.db import transaction

from toa.cadence.pulses.boundaries import grid_of, pass_over
from toa.cadence.source import BACKSTOP_MS
from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.specs import OperationType
from toa.models import Outcome, Pulse
from toa.runtime import bindings, settings
from toa.runtime.bindings import Operation
from toa.runtime.starting import begin, is_under_way
from toa.runtime.writing import check_lease

UNDER_WAY = "the run before it had not ended"


def waits_for_a_run(pulse: Pulse, now: int) -> bool:
    """Whether a pulse that is reached may not be called because its run has not ended. Its boundaries up to now are
    recorded as skipped; a call that somebody asked for waits."""
    if bindings.operation(pulse.endpoint).spec.type is not OperationType.WORKFLOW or not is_under_way(_key(pulse)):
        return False
    if pulse.fire_at is not None:
        pulse.wake_at = to_datetime(now + BACKSTOP_MS)
        return True
    grid = grid_of(pulse)
    pass_over(pulse, Outcome.SKIPPED, grid.ordinal(now), now, UNDER_WAY)
    pulse.wake_at = to_datetime(grid.next_after(now))
    return True


def start(operation: Operation, pulse: Pulse, input: object, call: Call) -> None:
    """Start the run of a boundary, under the call's own key."""
    assert call.lease is not None
    with transaction.atomic(using=settings.alias()):
        begin(operation, input, call.key, shown=_key(pulse), due=call.due, cause=call.cause)
        check_lease(call.lease)


def _key(pulse: Pulse) -> str:
    return f"pulse {pulse.id.hex}"
