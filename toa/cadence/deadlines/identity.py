"""The call of a deadline: which it is, at every try the same, and its line of history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from toa.cadence.deadlines.admitting import mark_of
from toa.core.calling import Call
from toa.core.deadlines import TIMEOUT, Reached
from toa.core.identity import digest
from toa.models import Outcome
from toa.runtime.bindings import Component, Operation
from toa.runtime.journal import Settled
from toa.runtime.table import State


def operation_of(component: Component, reached: Reached) -> Operation:
    """The transition of a deadline."""
    return component.operations[component.spec.deadlines[reached.property].transition]


def call_of(component: Component, operation: Operation, state: State, reached: Reached) -> Call:
    """The identity of a deadline's call: the same at every try, another one when the moment is set anew."""
    version = tries(state, reached).get("version", state["VERSION"])
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


def id_of(call: Call) -> UUID:
    """The id that a deadline's call has in dockets, history and failures."""
    return UUID(call.key[:32])


def tries(state: State, reached: Reached) -> dict[str, Any]:
    """What is kept of earlier tries of this very deadline; empty where there were none."""
    kept: dict[str, Any] = state["CLOCK"] or {}
    same = kept.get("property") == reached.property and kept.get("moment") == reached.moment
    return kept if same else {}


def line(
    component: Component, identity: Any, call: Call, reached: Reached, outcome: Outcome, code: str, now: int
) -> Settled:
    """The line of history of a deadline that was reached."""
    return Settled(
        call=id_of(call),
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
