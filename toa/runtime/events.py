"""From a change to deliveries: which events it is, who receives them, and with what request.

Everything is evaluated in the raising transaction. A condition, payload or request that raises parks its own
delivery with a failure; the operation that changed the row is not its victim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.core.record import Record
from toa.core.specs import OperationType, QueryRule, Scope
from toa.core.traces import sentence, trace
from toa.runtime import waking
from toa.runtime.bindings import Component, Event, Receiver
from toa.runtime.requests import check_storable
from toa.runtime.sql import insert_rows, moment_text
from toa.runtime.table import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A committed change of one row. `origin` is the state before, null at creation."""

    component: Component
    origin: State | None
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """One event on its way to one receiver, or the error that kept it from being made."""

    id: UUID = field(default_factory=uuid7)
    event: str
    receiver: Receiver
    request: dict[str, Any] | None
    error: BaseException | None = None


def deliver(made: Sequence[tuple[Change, Call]]) -> None:
    """Insert the deliveries of these changes, each made by its call, in the open transaction."""
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    wakes: list[int] = []
    for change, call in made:
        happened = change.state["UPDATED"]
        for one in _raised(change):
            due = happened + one.receiver.spec.delay_ms
            rows.append(_delivery(change, one, call, happened, due))
            if one.error is None:
                wakes.append(due)
            else:
                failures.append(_failure(change, one, one.error, moment_text(happened)))
    insert_rows("toa_delivery", rows)
    insert_rows("toa_failure", failures)
    if wakes:
        waking.after_commit(to_datetime(min(wakes)), to_datetime(made[0][0].state["UPDATED"]))


def _delivery(change: Change, one: Raised, call: Call, happened: int, due: int) -> dict[str, Any]:
    source, source_id = change.component.locator, str(change.state["id"])
    return {
        "id": one.id.hex,
        "endpoint": one.receiver.operation.endpoint,
        "request": one.request or {},
        "due_at": moment_text(due),
        "wake_at": None if one.error else moment_text(due),
        "attempt": 0,
        "strikes": 0,
        "chain": list(call.hops()),
        "cause": {"event": one.event, "endpoint": call.endpoint, "key": call.key, "entity": f"{source}:{source_id}"},
        "created_at": moment_text(happened),
        "event": one.event,
        "source": source,
        "source_id": source_id,
        "version": change.state["VERSION"],
        "receiver": one.receiver.operation.component.locator,
        "position": one.receiver.spec.position,
        "target": _target(one.receiver, one.request),
        "mark": call.mark,
    }


def _failure(change: Change, one: Raised, error: BaseException, moment: str) -> dict[str, Any]:
    return {
        "id": uuid7().hex,
        "call": one.id.hex,
        "source": "delivery",
        "endpoint": one.receiver.operation.endpoint,
        "entity": f"{change.component.locator}:{change.state['id']}",
        "request": None,
        "error": f"{one.event}: {sentence(error)}",
        "traceback": trace(error),
        "attempts": 0,
        "due_at": moment,
        "at": moment,
        # What a retry needs to evaluate it again.
        "row": {"event": one.event, "state": change.state, "origin": change.origin},
    }


def evaluate_again(event: str, receiver: str, position: int, change: Change) -> tuple[dict[str, Any], str] | None:
    """The request and target of a delivery that could not be made when its event was raised, or null where the code
    of now says that there is nothing to deliver. Raises what the condition, payload or request raises."""
    for found in change.component.events:
        for one in found.receivers:
            here = one.operation.component.locator, one.spec.position
            if f"{change.component.locator}.{found.name}" == event and here == (receiver, position):
                request = _evaluated(found, one, change)
                return None if request is None else (request, _target(one, request))
    return None


def _raised(change: Change) -> Iterator[Raised]:
    for event in change.component.events:
        locator = f"{change.component.locator}.{event.name}"
        for receiver in event.receivers:
            try:
                request = _evaluated(event, receiver, change)
            except Exception as error:
                yield Raised(event=locator, receiver=receiver, request=None, error=error)
            else:
                if request is not None:
                    yield Raised(event=locator, receiver=receiver, request=request)


def _evaluated(event: Event, receiver: Receiver, change: Change) -> dict[str, Any] | None:
    """The request for a receiver, or null where the event did not happen or is not for it."""
    origin = None if change.origin is None else Record(change.origin)
    state = Record(change.state)
    if not _happened(event, state, origin):
        return None
    if receiver.condition is not None and not receiver.condition(state, origin):
        return None
    request = _request(event, receiver, state, origin)
    check_storable(receiver.operation, request)
    return request


def _happened(event: Event, state: Record, origin: Record | None) -> bool:
    if event.condition is not None:
        return bool(event.condition(state, origin))
    deleted = state["DELETED"] is not None
    match event.name:
        case "created":
            return origin is None
        case "updated":
            return origin is not None and not deleted
        case "deleted":
            return deleted
        case _:
            return True


def _request(event: Event, receiver: Receiver, state: Record, origin: Record | None) -> dict[str, Any]:
    if receiver.request is not None:
        made = receiver.request(state, origin)
        return {"input": made.get("input"), "query": made.get("query")}
    payload = dict(state) if event.payload is None else event.payload(state, origin)
    operation = receiver.operation.spec
    takes_query = operation.query is not QueryRule.ABSENT and operation.type is not OperationType.EFFECT
    return {"input": payload, "query": {"id": state["id"]} if takes_query else None}


def _target(receiver: Receiver, request: dict[str, Any] | None) -> str:
    query = (request or {}).get("query") or {}
    if receiver.operation.spec.scope in (Scope.ENTRY, Scope.CHANGESET) and "id" in query:
        return str(query["id"])
    return ""
