"""From a change to deliveries: which events it is, who receives them, and with what request.

Everything is evaluated in the raising transaction. A condition, payload or request that raises parks its own
delivery with a failure; the operation that changed the row is not its victim.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.core.record import Record
from toa.core.specs import OperationType, QueryRule, Scope
from toa.runtime import waking
from toa.runtime.bindings import Component, Event, Receiver
from toa.runtime.requests import check_storable
from toa.runtime.sql import insert_rows
from toa.runtime.table import State, jsonb


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


_DELIVERIES = (
    "toa_delivery (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, created_at,"
    " event, source, source_id, version, receiver, position, target)"
)
_FAILURES = (
    "toa_failure (id, call, source, endpoint, entity, request, error, traceback, attempts, due_at, at, row)"
)


def deliver(changes: list[Change], call: Call) -> None:
    """Insert the deliveries of these changes in the open transaction."""
    rows: list[tuple[Any, ...]] = []
    failures: list[tuple[Any, ...]] = []
    for change in changes:
        moment = to_datetime(change.state["UPDATED"])
        source, source_id = change.component.locator, str(change.state["id"])
        cause = {"endpoint": call.endpoint, "key": call.key, "entity": f"{source}:{source_id}"}
        for one in _raised(change):
            endpoint = one.receiver.operation.endpoint
            delayed = to_datetime(change.state["UPDATED"] + one.receiver.spec.delay_ms)
            rows.append(
                (one.id, endpoint, jsonb(one.request), delayed, None if one.error else delayed, 0, 0)
                + (list(call.hops()), jsonb(cause), moment, one.event, source, source_id, change.state["VERSION"])
                + (one.receiver.operation.component.locator, one.receiver.spec.position, _target(one))
            )
            if one.error:
                failures.append(_failure(one, endpoint, f"{source}:{source_id}", moment))
    insert_rows(_DELIVERIES, rows)
    insert_rows(_FAILURES, failures)
    due = [row[4] for row in rows if row[4] is not None]
    if due:
        waking.after_commit(min(due), min(row[9] for row in rows))


def _raised(change: Change) -> Iterator[Raised]:
    origin = None if change.origin is None else Record(change.origin)
    state = Record(change.state)
    for event in change.component.events:
        locator = f"{change.component.locator}.{event.name}"
        try:
            if not _happened(event, state, origin):
                continue
            payload = state if event.payload is None else event.payload(state, origin)
        except Exception as error:
            for receiver in event.receivers:
                yield Raised(event=locator, receiver=receiver, request=None, error=error)
            continue
        for receiver in event.receivers:
            try:
                if receiver.condition is not None and not receiver.condition(state, origin):
                    continue
                request = _request(receiver, change.state["id"], payload, state, origin)
                check_storable(receiver.operation, request)
            except Exception as error:
                yield Raised(event=locator, receiver=receiver, request=None, error=error)
            else:
                yield Raised(event=locator, receiver=receiver, request=request)


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


def _request(receiver: Receiver, source_id: Any, payload: Any, state: Record, origin: Record | None) -> dict[str, Any]:
    if receiver.request is not None:
        made = receiver.request(state, origin)
        return {"input": made.get("input"), "query": made.get("query")}
    operation = receiver.operation.spec
    takes_query = operation.query is not QueryRule.ABSENT and operation.type is not OperationType.EFFECT
    return {"input": payload, "query": {"id": source_id} if takes_query else None}


def _target(one: Raised) -> str:
    query = (one.request or {}).get("query") or {}
    if one.receiver.operation.spec.scope in (Scope.ENTRY, Scope.CHANGESET) and "id" in query:
        return str(query["id"])
    return ""


def _failure(one: Raised, endpoint: str, entity: str, moment: Any) -> tuple[Any, ...]:
    assert one.error is not None
    return (
        (uuid7(), one.id, "delivery", endpoint, entity, None)
        + (f"{one.event}: {type(one.error).__name__}: {one.error}", "".join(traceback.format_exception(one.error)))
        + (0, moment, moment, jsonb({"event": one.event}))
    )
