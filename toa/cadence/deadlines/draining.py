"""Bringing a failed instance up to date: the failed step, then what parked, each deadline in its place by time.

A retry marks the instance as draining and held until now, so that it is found like everything due. Each step commits
on its own; one that is broken off goes on where it was, and no step runs twice.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from toa.cadence.calls.due import DELIVERIES
from toa.cadence.calls.firing import call_of
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import DIED, fail, settle_reply
from toa.cadence.calls.suspects import Docket, docket, noted
from toa.cadence.deadlines.holding import fail_instance
from toa.cadence.deadlines.identity import call_of as call_of_deadline
from toa.cadence.deadlines.identity import id_of, operation_of
from toa.cadence.deadlines.instances import locked_state, run_deadline
from toa.core.allowance import TookTooLong
from toa.core.deadlines import DRAINING, FAILED, Reached, earliest
from toa.core.error import Error
from toa.core.traces import sentence, trace
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
    evidence = docket()
    try:
        with transaction.atomic(using=settings.alias()), noted(evidence):
            state = locked_state(component, identity)
            if state is None or state["STATE"] != DRAINING:
                return False
            step = _next(component, state, now)
            if step is None:
                component.table.update(identity, {"STATE": None, "HELD": None, "CLOCK": None})
                return True
            trying.append(step)
            if evidence is not None:
                _check(evidence, _call(component, state, step))
            if isinstance(step, Reached):
                run_deadline(component, state, step, now)
            else:
                _deliver(component, step, now)
            _go_on(component, identity)
    except Busy:
        return False
    except _Died as died:
        return _failed_again(component, identity, trying[0], TimeoutError(DIED), died.call)
    except TookTooLong as error:
        return _failed_again(component, identity, trying[0], TimeoutError(str(error)))
    except Exception as error:
        if not trying:
            raise
        return _failed_again(component, identity, trying[0], error)
    return True


class _Died(Exception):
    """Some other process died running the step."""

    def __init__(self, call: UUID) -> None:
        self.call = call


def _call(component: Component, state: State, step: Live | Reached) -> UUID:
    """The id of a step's call, as it stands in dockets."""
    if isinstance(step, Live):
        return step.id
    return id_of(call_of_deadline(component, operation_of(component, step), state, step))


def _check(evidence: Docket, call: UUID) -> None:
    if evidence.accused([call]):
        # The instance is free, and still somebody's docket names the call.
        raise _Died(call)
    evidence.write([call])


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


def _failed_again(
    component: Component, identity: Any, step: Live | Reached, error: Exception, acquitted: UUID | None = None
) -> bool:
    """Stop the instance again at a step that failed; it waits for the next decision. Always false."""
    now = clock.clock().now()
    try:
        with transaction.atomic(using=settings.alias()):
            state = locked_state(component, identity)
            if state is None or state["STATE"] != DRAINING:
                return False
            evidence = docket()
            if acquitted is not None and evidence is not None:
                evidence.acquit(acquitted)
            if isinstance(step, Reached):
                call = call_of_deadline(component, operation_of(component, step), state, step)
                fail_instance(component, state, call, step, error, now)
            else:
                fail(DELIVERIES.kind, step, sentence(error), trace(error), now, now)
                component.table.update(identity, {"STATE": FAILED, "HELD": None})
    except Busy:
        pass  # somebody looks at it right now; the next pass finds it as it is
    return False
