"""Bringing a failed instance up to date: the failed step, then what parked, each deadline in its place by time.

A retry marks the instance as draining and held until now, so that it is found like everything due. Each step commits
on its own; one that is broken off goes on where it was, and no step runs twice.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from toa.cadence.firing import call_of
from toa.cadence.instances import call_of as call_of_deadline
from toa.cadence.instances import fail_instance, locked_state, run_deadline
from toa.cadence.live import Kind, Live
from toa.cadence.outcomes import sentence, trace
from toa.cadence.settling import fail, settle_reply
from toa.cadence.stored import DELIVERIES
from toa.core.allowance import TookTooLong
from toa.core.deadlines import DRAINING, FAILED, Reached, earliest
from toa.core.error import Error
from toa.exceptions import Busy, NotFound
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Component
from toa.runtime.deciding import decide
from toa.runtime.requests import prepare, split
from toa.runtime.table import Lock, State

STEPS = 100
"""Steps of one instance in one turn; the rest comes with the next pass."""


def drain(component: Component, identity: Any) -> bool:
    """Take a draining instance as far as it goes; false where it is not draining, or held by somebody else."""
    took = False
    for _ in range(STEPS):
        if not _step(component, identity):
            break
        took = True
    return took


def _step(component: Component, identity: Any) -> bool:
    """One step in one transaction; true where there may be another."""
    now = clock.clock().now()
    trying: list[Live | Reached] = []
    try:
        with transaction.atomic(using=settings.alias()):
            state = locked_state(component, identity)
            if state is None or state["STATE"] != DRAINING:
                return False
            step = _next(component, state, now)
            if step is None:
                component.table.update(identity, {"STATE": None, "HELD": None, "CLOCK": None})
                return True
            trying.append(step)
            if isinstance(step, Reached):
                run_deadline(component, state, step, now)
            else:
                _deliver(component, step, now)
            _go_on(component, identity)
    except Busy:
        return False
    except TookTooLong as error:
        return _failed_again(component, identity, trying[0], TimeoutError(str(error)))
    except Exception as error:
        if not trying:
            raise
        return _failed_again(component, identity, trying[0], error)
    return True


def _next(component: Component, state: State, now: int) -> Live | Reached | None:
    kept = (state["CLOCK"] or {}).get("first")
    wanted = kept.get("delivery") if kept else None
    parked = DELIVERIES.kind.first_of(component.locator, str(state["id"]), wanted)
    deadline = earliest(state, component.spec.deadlines)
    if deadline is not None and deadline.moment > now:
        deadline = None
    if wanted is not None and parked is not None and parked.id.hex == wanted:
        return parked
    if kept and kept.get("property") and deadline is not None:
        return deadline
    if deadline is None or parked is None:
        return deadline or parked
    happened = parked.due if parked.base is None else parked.base
    return deadline if deadline.moment <= happened else parked


def _deliver(component: Component, live: Live, now: int) -> None:
    operation = bindings.operation(live.endpoint)
    kind: Kind = DELIVERIES.kind
    try:
        reply = decide(operation, prepare(operation, *split(live.request)), call_of(live), lock=Lock.SKIP)
    except NotFound:
        reply = Error("NOT_FOUND")
    settle_reply(kind, live, reply, now, clock.clock().now())


def _go_on(component: Component, identity: Any) -> None:
    """After a step: stay due for the next one, unless the step ended the process."""
    now = clock.clock().now()
    if component.table.fetch([identity])[identity]["STATE"] == DRAINING:
        component.table.update(identity, {"CLOCK": None, "HELD": now})
    else:
        DELIVERIES.kind.release(component.locator, str(identity), now)


def _failed_again(component: Component, identity: Any, step: Live | Reached, error: Exception) -> bool:
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        state = locked_state(component, identity)
        if state is None or state["STATE"] != DRAINING:
            return False
        if isinstance(step, Reached):
            operation = component.operations[component.spec.deadlines[step.property].transition]
            fail_instance(component, state, call_of_deadline(component, operation, state, step), step, error, now)
        else:
            fail(DELIVERIES.kind, step, sentence(error), trace(error), now, now)
            component.table.update(identity, {"STATE": FAILED, "HELD": None})
    return False
