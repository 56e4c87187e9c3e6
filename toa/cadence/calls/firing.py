"""Firing a stored transition or assignment: run it and settle its call in one transaction.

Rows are taken entity first, then the call's own row, as people's transactions do, and neither is waited for. What was
passed over for a second is fired with patience: it waits for its entity, at most the lock time-out, holding nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, OperationalError, connections, transaction
from psycopg import errors

from toa.cadence.calls.live import LOCK_TIMEOUT, Kind, Live
from toa.cadence.calls.settling import settle, settle_error, settle_reply, strike
from toa.cadence.calls.suspects import Docket, deciding
from toa.cadence.deadlines.admitting import AFTER_DEADLINE, admitted, turn_away
from toa.cadence.deadlines.holding import stop
from toa.cadence.deadlines.instances import locked_state, reach
from toa.cadence.source import BACKSTOP_MS
from toa.core.allowance import TookTooLong
from toa.core.calling import Call, refuses_chain
from toa.core.error import Error
from toa.core.specs import OperationType
from toa.exceptions import Busy, NotAllowedHere, NotFound
from toa.models import Outcome
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.deciding import Verdict, decide
from toa.runtime.requests import prepare, split
from toa.runtime.starting import begin
from toa.runtime.table import Lock
from toa.runtime.writing import Entry, explained

NOT_FOUND = "NOT_FOUND"
"""The code of a call whose object does not exist."""


class _Gone(Exception):
    """The call was taken, moved or cancelled since it was found."""


class _AfterDeadline(Exception):
    """The target has a deadline that goes first."""

    def __init__(self, component: Component, identity: Any) -> None:
        self.component = component
        self.identity = identity


def fire(kind: Kind, live: Live, docket: Docket | None = None) -> bool:
    """Make one due call and settle it; false where it or its entity is held by somebody else, or it is gone.

    The call stands in the docket while its row is held and its function runs.
    """
    now = clock.clock().now()
    try:
        with deciding(docket):
            if expired(live, now):
                _take(kind, live)
                settle(kind, live, Outcome.EXPIRED, "overdue", now, now)
            else:
                _make(kind, live, now, docket)
    except (Busy, _Gone):
        return False
    except _AfterDeadline as waits:
        # The deadline was pending when the event happened. It is due: it goes first, and then the event.
        return reach(waits.component, waits.identity) and fire(kind, live, docket)
    except TookTooLong as error:
        return struck(kind, live, str(error), now)
    except IntegrityError as error:
        return _record(kind, live, explained(bindings.operation(live.endpoint).component, error), now)
    except OperationalError as error:
        return not isinstance(error.__cause__, errors.LockNotAvailable) and _record(kind, live, error, now)
    except Exception as error:
        return _record(kind, live, error, now)
    return True


def expired(live: Live, now: int) -> bool:
    """Whether it is too late to begin. Decided before the first try, never at a retry."""
    tried = live.attempt or live.strikes
    return live.overdue is not None and not tried and now > live.due + BACKSTOP_MS + live.overdue


def call_of(live: Live) -> Call:
    """The identity of the call, the same at every try."""
    return Call(
        endpoint=live.endpoint,
        key=live.id.hex,
        due=live.due,
        base=live.base,
        caller=f"{live.source}:{live.id.hex}",
        chain=live.chain,
        cause={"source": live.source, "call": live.id.hex, **(live.cause or {})},
        # A mark goes from the time-out over what it sent to the events of that, and ends there.
        mark=None if live.source == "delivery" else live.mark,
    )


def check_chain(live: Live) -> None:
    """Refuse a call that its chain does not allow: two that were armed apart may only meet here."""
    reason = refuses_chain(live.chain, live.endpoint)
    if reason:
        raise NotAllowedHere(reason)


def _make(kind: Kind, live: Live, started: int, docket: Docket | None) -> None:
    check_chain(live)
    operation = bindings.operation(live.endpoint)
    if operation.spec.type is OperationType.WORKFLOW:
        _start(kind, live, operation, started)
        return
    patient = started - live.wake >= BACKSTOP_MS
    if patient:
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    try:
        reply = decide(
            operation,
            prepare(operation, *split(live.request)),
            call_of(live),
            lock=Lock.WAIT if patient else Lock.SKIP,
            locked=lambda entries: _admit(kind, live, entries, docket),
        )
    except NotFound:
        _take(kind, live)
        reply = Error(NOT_FOUND)
    if reply == AFTER_DEADLINE:
        component, _, identity = live.entity.partition(":")
        raise _AfterDeadline(bindings.component(component), identity)
    if isinstance(reply, Verdict):
        turn_away(kind, live, reply, started)
    else:
        settle_reply(kind, live, reply, started, clock.clock().now())


def _start(kind: Kind, live: Live, operation: Operation, started: int) -> None:
    """A call of a workflow is made once its run is stored, under the call's own key."""
    _take(kind, live)
    call, (input, query) = call_of(live), split(live.request)
    prepare(operation, input, query)
    begin(operation, input, live.id.hex, chain=call.chain, due=live.due, cause=call.cause)
    settle_reply(kind, live, None, started, clock.clock().now())


def _admit(kind: Kind, live: Live, entries: Sequence[Entry], docket: Docket | None) -> Verdict | None:
    _take(kind, live)
    verdict = admitted(live, entries)
    if verdict is None and docket is not None:
        docket.write([live.id])
    return verdict


def _take(kind: Kind, live: Live) -> None:
    if not kind.claim(live):
        raise _Gone


def _record(kind: Kind, live: Live, error: Exception, started: int) -> bool:
    operation = bindings.operation(live.endpoint)
    component, _, identity = live.entity.partition(":")
    timed = kind.parks and "STATE" in operation.component.table.properties and component == operation.component.locator
    try:
        with transaction.atomic(using=settings.alias()):
            # The object first, as always: a failure stops the one instance that it happened to.
            state = locked_state(operation.component, identity) if timed else None
            if not kind.claim(live):
                return False
            outcome = settle_error(kind, live, error, operation.spec, started, clock.clock().now())
            if outcome is Outcome.FAILED and state is not None:
                stop(operation.component, state)
    except Busy:
        return False
    return True


def struck(kind: Kind, live: Live, why: str, started: int) -> bool:
    """Count a strike in a transaction of its own; true where it was the last one, and the call is settled."""
    with transaction.atomic(using=settings.alias()):
        return kind.claim(live) and strike(kind, live, why, started, clock.clock().now())
