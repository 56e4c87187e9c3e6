"""A try of a deadline that came to nothing: its instance is held for another one, or stops until somebody decides."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from toa.cadence.calls.outcomes import back_off_ms, is_transient
from toa.cadence.calls.settling import DIED
from toa.cadence.calls.suspects import Docket
from toa.cadence.deadlines.identity import call_of, id_of, line, operation_of, tries
from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.deadlines import FAILED, Reached
from toa.core.traces import sentence, trace
from toa.models import Failure, Outcome
from toa.runtime import settings
from toa.runtime.bindings import Component
from toa.runtime.journal import write_history
from toa.runtime.table import State

logger = logging.getLogger("toa.cadence")


def stop(component: Component, state: State) -> None:
    """Have a locked instance run nothing by itself until somebody decides about a failure. One that ran nothing
    already, as a closed one, stays what it is."""
    if state["STATE"] is None:
        component.table.update(state["id"], {"STATE": FAILED, "HELD": None})


def fail_instance(component: Component, state: State, call: Call, reached: Reached, error: Exception, now: int) -> None:
    """Stop an instance at a deadline that failed: what comes to it parks, in order, until somebody decides."""
    component.table.update(state["id"], {"STATE": FAILED, "HELD": None})
    Failure.objects.using(settings.alias()).create(
        call=id_of(call),
        source="deadline",
        endpoint=call.endpoint,
        entity=f"{component.locator}:{state['id']}",
        request=None,
        error=sentence(error),
        traceback=trace(error),
        attempts=tries(state, reached).get("attempts", 0) + 1,
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
    operation = operation_of(component, reached)
    attempts = tries(state, reached).get("attempts", 0) + 1
    if not is_transient(error, operation.spec) or attempts >= operation.spec.attempts:
        fail_instance(component, state, call_of(component, operation, state, reached), reached, error, now)
        return
    tried = _tried(state, reached, sentence(error), attempts)
    component.table.update(state["id"], {"HELD": now + back_off_ms(attempts), "CLOCK": tried})


def convict(
    component: Component, state: State, reached: Reached, call: UUID, now: int, evidence: Docket, *, among: bool
) -> None:
    """Hold a locked instance whose call some other process died running, which counts as a try.

    Where that process ran it `among` others, nobody knows whose fault it was: it may run again at once, but alone.
    """
    evidence.acquit(call)
    if among:
        tried = _tried(state, reached, DIED, tries(state, reached).get("attempts", 0))
        component.table.update(state["id"], {"HELD": now, "CLOCK": tried})
    else:
        hold(component, state, reached, TimeoutError(DIED), now)


def _tried(state: State, reached: Reached, error: str, attempts: int) -> dict[str, Any]:
    """What to keep of a try."""
    return {
        "property": reached.property,
        "moment": reached.moment,
        "version": tries(state, reached).get("version", state["VERSION"]),
        "attempts": attempts,
        "error": error,
    }
