"""One instance of a component with deadlines: running what is due of it, one commit after another.

The row is locked and what is due is worked out from the state again, so a deadline that was moved or cleared by any
means runs nothing.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from django.db import OperationalError, transaction
from psycopg import errors

from toa.cadence.calls.outcomes import back_off_ms, is_transient, sentence, trace
from toa.cadence.calls.settling import DIED
from toa.cadence.calls.suspects import Docket, docket, noted
from toa.cadence.deadlines.admitting import mark_of
from toa.core.allowance import TookTooLong
from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.deadlines import FAILED, TIMEOUT, Reached, earliest
from toa.core.error import Error
from toa.core.identity import digest
from toa.exceptions import Busy, OperationFault
from toa.models import Delivery, Failure, Outcome
from toa.runtime import clock, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.deciding import decide
from toa.runtime.journal import Settled, write_history
from toa.runtime.requests import prepare
from toa.runtime.table import Lock, State

logger = logging.getLogger("toa.cadence")

EVENT_WAIT_MS = 2_000
"""How long a due deadline waits for events that happened before it."""


class _Moved(Exception):
    """The instance has nothing due: its deadline was moved, cleared, reached, or the instance left the running."""


def reach(component: Component, identity: Any) -> bool:
    """Run the earliest due deadline of an instance; false where it is held, or nothing of it is due."""
    now = clock.clock().now()
    ran: list[Reached] = []
    evidence = docket()
    try:
        with transaction.atomic(using=settings.alias()), noted(evidence):
            _run(component, identity, now, ran, evidence)
    except (Busy, _Moved):
        return False
    except OperationalError as error:
        return not isinstance(error.__cause__, errors.LockNotAvailable) and _record(component, identity, ran, error)
    except TookTooLong as error:
        return _record(component, identity, ran, TimeoutError(str(error)))
    except Exception as error:
        return _record(component, identity, ran, error)
    return True


def _run(component: Component, identity: Any, now: int, ran: list[Reached], evidence: Docket | None) -> None:
    state = locked_state(component, identity)
    if state is None or state["STATE"] is not None or state["DELETED"] is not None:
        raise _Moved
    if state["HELD"] is not None and state["HELD"] > now:
        raise _Moved
    reached = earliest(state, component.spec.deadlines)
    if reached is None or reached.moment > now:
        if state["HELD"] is not None:
            component.table.update(identity, {"HELD": None, "CLOCK": None})
            return
        raise _Moved
    if _waits_for_events(component, state, reached, now):
        return
    ran.append(reached)
    if evidence is not None and _died_before(component, state, reached, now, evidence):
        return
    run_deadline(component, state, reached, now)


def _died_before(component: Component, state: State, reached: Reached, now: int, evidence: Docket) -> bool:
    """Put a call on the docket; true where some other process died running it, which counts as a try of its own."""
    operation = component.operations[component.spec.deadlines[reached.property].transition]
    call = UUID(call_of(component, operation, state, reached).key[:32])
    if evidence.accused([call]):
        # The row is free, and still somebody's docket names the call.
        evidence.acquit(call)
        hold(component, state, reached, TimeoutError(DIED), now)
        return True
    evidence.write([call])
    return False


def locked_state(component: Component, identity: Any) -> State | None:
    """The instance's state, locked without waiting; null where it does not exist. Raises Busy where it is held."""
    identity = component.table.identity(identity)
    state = component.table.fetch([identity], Lock.SKIP).get(identity)
    if state is None and component.table.fetch([identity]):
        raise Busy(f"{component.locator} {identity} is held by somebody else")
    return state


def run_deadline(component: Component, state: State, reached: Reached, now: int) -> None:
    """Run a deadline's transition on a locked instance and record it; raises what the transition raises."""
    operation = component.operations[component.spec.deadlines[reached.property].transition]
    call = call_of(component, operation, state, reached)
    reply = decide(operation, prepare(operation, None, {"id": state["id"]}), call, lock=Lock.SKIP, reached=reached)
    if isinstance(reply, Error):
        raise OperationFault(f"{operation.endpoint} replied with the Error {reply.code}, and {reached.property} stands")
    write_history([line(component, state["id"], call, reached, Outcome.MADE, "", now)])


def call_of(component: Component, operation: Operation, state: State, reached: Reached) -> Call:
    """The identity of a deadline's call: the same at every try, another one when the moment is set anew."""
    kept = state["CLOCK"] or {}
    same = kept.get("property") == reached.property and kept.get("moment") == reached.moment
    version = kept["version"] if same else state["VERSION"]
    key = digest(component.locator, str(state["id"]), reached.property, reached.moment, version)[:40]
    timeout = reached.property == TIMEOUT
    return Call(
        endpoint=operation.endpoint,
        key=key,
        due=reached.moment,
        base=reached.moment,
        caller=f"deadline:{component.locator}",
        cause={"source": "deadline", "deadline": reached.property, "moment": reached.moment},
        mark=mark_of(component.locator, state["id"]) if timeout else None,
        timeout=timeout,
    )


def line(
    component: Component, identity: Any, call: Call, reached: Reached, outcome: Outcome, code: str, now: int
) -> Settled:
    """The line of history of a deadline that was reached."""
    return Settled(
        call=UUID(call.key[:32]),
        source="deadline",
        endpoint=call.endpoint,
        entity=f"{component.locator}:{identity}",
        outcome=outcome,
        code=code or reached.property,
        due=reached.moment,
        at=now,
        started=now,
        cause=call.cause,
    )


def stop(component: Component, state: State) -> None:
    """Have a locked instance run nothing by itself until somebody decides about a failure. One that ran nothing
    already, as a closed one, stays what it is."""
    if state["STATE"] is None:
        component.table.update(state["id"], {"STATE": FAILED, "HELD": None})


def fail_instance(component: Component, state: State, call: Call, reached: Reached, error: Exception, now: int) -> None:
    """Stop an instance at a deadline that failed: what comes to it parks, in order, until somebody decides."""
    kept = state["CLOCK"] or {}
    component.table.update(state["id"], {"STATE": FAILED, "HELD": None})
    Failure.objects.using(settings.alias()).create(
        call=UUID(call.key[:32]),
        source="deadline",
        endpoint=call.endpoint,
        entity=f"{component.locator}:{state['id']}",
        request=None,
        error=sentence(error),
        traceback=trace(error),
        attempts=kept.get("attempts", 0) + 1,
        due_at=to_datetime(reached.moment),
        at=to_datetime(now),
        row={"component": component.locator, "id": state["id"], "property": reached.property, "moment": reached.moment},
    )
    write_history([line(component, state["id"], call, reached, Outcome.FAILED, sentence(error), now)])
    logger.error(
        "%s of %s %s failed: %s",
        reached.property,
        component.locator,
        state["id"],
        sentence(error),
        extra={"action": "failure", "entity": f"{component.locator}:{state['id']}"},
    )


def hold(component: Component, state: State, reached: Reached, error: Exception, now: int) -> None:
    """Hold a locked instance for another try of its deadline, or stop it where there is none left."""
    operation = component.operations[component.spec.deadlines[reached.property].transition]
    kept = state["CLOCK"] or {}
    same = kept.get("property") == reached.property and kept.get("moment") == reached.moment
    attempts = (kept.get("attempts", 0) if same else 0) + 1
    if not is_transient(error, operation.spec) or attempts >= operation.spec.attempts:
        fail_instance(component, state, call_of(component, operation, state, reached), reached, error, now)
        return
    tried = {
        "property": reached.property,
        "moment": reached.moment,
        "version": kept["version"] if same else state["VERSION"],
        "attempts": attempts,
        "error": sentence(error),
    }
    component.table.update(state["id"], {"HELD": now + back_off_ms(attempts), "CLOCK": tried})


def _record(component: Component, identity: Any, ran: list[Reached], error: Exception) -> bool:
    if not ran:
        raise error
    (reached,) = ran
    try:
        with transaction.atomic(using=settings.alias()):
            state = locked_state(component, identity)
            if state is None or earliest(state, component.spec.deadlines) != reached:
                return False
            hold(component, state, reached, error, clock.clock().now())
    except Busy:
        return False
    return True


def _waits_for_events(component: Component, state: State, reached: Reached, now: int) -> bool:
    """Hold a due deadline for events that happened before it and are still on their way, two seconds at the most."""
    kept = state["CLOCK"] or {}
    waited = kept.get("waited")
    if waited is not None and kept.get("awaits") == reached.moment and now >= waited + EVENT_WAIT_MS:
        return False
    earlier = Delivery.objects.using(settings.alias()).filter(
        receiver=component.locator,
        target=str(state["id"]),
        created_at__lt=to_datetime(reached.moment),
        wake_at__lte=to_datetime(now),
    )
    if not earlier.exists():
        return False
    if waited is None or kept.get("awaits") != reached.moment:
        waited = now
    waiting = {**kept, "waited": waited, "awaits": reached.moment}
    component.table.update(state["id"], {"HELD": waited + EVENT_WAIT_MS, "CLOCK": waiting})
    return True
