"""One instance of a component with deadlines: running what is due of it, one commit after another.

The row is locked and what is due is worked out from the state again, so a deadline that was moved or cleared by any
means runs nothing.
"""

from __future__ import annotations

from typing import Any

from django.db import OperationalError, transaction
from psycopg import errors

from toa.cadence.calls.suspects import Docket, docket, noted
from toa.cadence.deadlines.holding import convict, hold
from toa.cadence.deadlines.identity import call_of, id_of, line, operation_of
from toa.cadence.deadlines.waiting import waiting
from toa.core.allowance import TookTooLong
from toa.core.deadlines import Reached, earliest
from toa.core.error import Error
from toa.exceptions import Busy, OperationFault
from toa.models import Outcome
from toa.runtime import clock, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.deciding import decide
from toa.runtime.journal import write_history
from toa.runtime.requests import prepare
from toa.runtime.table import Lock, State

FREE: State = {"HELD": None, "CLOCK": None}
"""What to write of an instance that waits for nothing any more."""


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
    if state is None or not runs(state, now):
        raise _Moved
    reached = earliest(state, component.spec.deadlines)
    if reached is None or reached.moment > now:
        if state["HELD"] is None:
            raise _Moved
        component.table.update(state["id"], FREE)
        return
    held = waiting(component, [(state, reached)], now)
    if held:
        component.table.update(state["id"], held[state["id"]])
        return
    ran.append(reached)
    if evidence is not None and _died_before(component, state, reached, now, evidence):
        return
    run_deadline(component, state, reached, now)


def runs(state: State, now: int) -> bool:
    """Whether a deadline of an instance may run: it is neither stopped nor over, nor held until later."""
    return state["STATE"] is None and state["DELETED"] is None and (state["HELD"] is None or state["HELD"] <= now)


def _died_before(component: Component, state: State, reached: Reached, now: int, evidence: Docket) -> bool:
    """Put a call on the docket; true where some other process died running it, and it has to wait for another try."""
    call = id_of(call_of(component, operation_of(component, reached), state, reached))
    accused = evidence.accused([call])
    if accused:
        # The row is free, and still somebody's docket names the call.
        convict(component, state, reached, call, now, evidence, among=accused[call])
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
    operation = operation_of(component, reached)
    call = call_of(component, operation, state, reached)
    reply = decide(operation, prepare(operation, None, {"id": state["id"]}), call, lock=Lock.SKIP, reached=reached)
    check_reply(operation, reached, reply)
    write_history([line(component, state["id"], call, reached, Outcome.MADE, "", now)])


def check_reply(operation: Operation, reached: Reached, reply: Any) -> None:
    """Raises OperationFault for an Error: nobody is there to take it, and nothing was done."""
    if isinstance(reply, Error):
        raise OperationFault(f"{operation.endpoint} replied with the Error {reply.code}, and {reached.property} stands")


def _record(component: Component, identity: Any, ran: list[Reached], error: Exception) -> bool:
    if not ran:
        raise error
    return record(component, identity, ran[0], error)


def record(component: Component, identity: Any, reached: Reached, error: Exception) -> bool:
    """Record in a transaction of its own that a deadline could not be reached; false where it is not the earliest one
    of its instance any more, or somebody else holds that."""
    try:
        with transaction.atomic(using=settings.alias()):
            state = locked_state(component, identity)
            if state is None or earliest(state, component.spec.deadlines) != reached:
                return False
            hold(component, state, reached, error, clock.clock().now())
    except Busy:
        return False
    return True
