"""Calling an operation: the one way in, for people, views, effects and tests."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.models import Q
from psycopg import errors

from toa.core.calling import Call, fresh, refuses_chain
from toa.core.draft import Draft
from toa.core.error import Error
from toa.core.identity import derive
from toa.core.purity import watched
from toa.core.query import KEYS as QUERY_KEYS
from toa.core.specs import Concurrency, OperationType, Scope
from toa.exceptions import Conflict, InvalidInput, NotAllowedHere, OutcomeUnknown, Refused
from toa.runtime import bindings, clock, once, settings
from toa.runtime.bindings import Operation
from toa.runtime.context import CallingContext, EffectContext, TransitionContext
from toa.runtime.deciding import checked_reply, decide
from toa.runtime.delaying import Delays
from toa.runtime.requests import Request, prepare
from toa.runtime.selecting import project, select_many, select_one
from toa.runtime.table import Lock

TRIES = 32
"""Attempts of a transition with `concurrency: retry`."""
FIRST_WAIT_S, GROWTH, LONGEST_WAIT_S = 0.010, 1.5, 5.0
"""Back-off between them, in seconds, jittered."""

_CONTENTION = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)


class _RolledBack(Exception):
    """Carries an Error reply out of the transaction that it rolls back."""

    def __init__(self, reply: Error) -> None:
        self.reply = reply


def call(
    endpoint: str,
    input: Any = None,
    query: Mapping[str, Any] | None = None,
    *,
    once: str | None = None,
    check: bool = False,
    caller: str = "",
    **words: Any,
) -> Any:
    """Call an operation, in the caller's transaction where one is open, and return its reply.

    ::

        toa.call("store.orders.cancel", {"reason": "STUCK"}, id=order_id)

    The query may be given as a mapping or as keywords (`id`, `ids`, `version`, `criteria`, `limit`, …). An Error that
    the operation replies with is returned; with `check=True` it is raised as `toa.Refused`. `once` is a key under
    which the reply is remembered; `caller` says whose key it is. Raises UnknownEndpoint, InvalidInput, InvalidQuery,
    NotFound, PreconditionFailed, Conflict, NotAllowedHere.
    """
    unknown = sorted(set(words) - set(QUERY_KEYS))
    if unknown:
        raise TypeError(f"call() has no argument {unknown[0]!r}; of a query there is {', '.join(QUERY_KEYS)}")
    if words and query is not None:
        raise TypeError("call() takes a query as a mapping or as keywords, not both")
    operation = bindings.operation(endpoint)
    reply = execute(operation, input, words or query, fresh(endpoint, caller=caller, once=once), once=once)
    if check and isinstance(reply, Error):
        raise Refused(reply.code, reply.details)
    return reply


def execute(
    operation: Operation, input: Any, query: Mapping[str, Any] | None, call: Call, *, once: str | None = None
) -> Any:
    """Run an operation of any type for a call; returns its reply or Error."""
    request = prepare(operation, input, query)
    if operation.writes:
        return _transact(operation, request, call, once, (input, query))
    if once is not None:
        raise InvalidInput(f"{operation.endpoint} is of type {operation.spec.type.value} and takes no once key")
    match operation.spec.type:
        case OperationType.OBSERVATION:
            return observe(operation, request, call)
        case OperationType.COMPUTATION:
            return compute(operation, request, call)
        case OperationType.EFFECT:
            return perform(operation, request, call)
        case _:
            raise NotAllowedHere(
                f"{operation.endpoint} is a workflow: it is started, not called",
                hint=f"toa.start({operation.endpoint!r}, …), or context.send of an operation",
            )


def observe(operation: Operation, request: Request, call: Call) -> Any:
    """Run an observation; it sees drafts that nobody commits."""
    component, query = operation.component, request.query
    context = CallingContext(operation, call, _Nested(call, reading=True))
    nothing: frozenset[str] = frozenset()
    if operation.spec.scope is Scope.ENTRIES:
        assert query is not None
        states = project(select_many(component, query), query.projection)
        return _replied(operation, request.input, [Draft(state, nothing) for state in states], context)
    if operation.spec.scope is Scope.NONE or query is None:
        return _replied(operation, request.input, context)
    state = select_one(component, query)
    if state is not None:
        state = project([state], query.projection)[0]
    return _replied(operation, request.input, None if state is None else Draft(state, nothing), context)


def compute(operation: Operation, request: Request, call: Call) -> Any:
    """Run a computation, which touches nothing."""
    with watched():
        return _replied(operation, request.input, TransitionContext(operation, call))


def perform(operation: Operation, request: Request, call: Call) -> Any:
    """Run an effect; refused while a transaction is open, which it would hold open over its I/O."""
    if _in_transaction():
        raise NotAllowedHere(
            f"{operation.endpoint} is an effect and a transaction is open around it",
            hint=f"have it called after the commit: toa.send({operation.endpoint!r}, …)",
        )
    context = EffectContext(operation, call, _Nested(call), Delays)
    return _replied(operation, request.input, context)


class _Nested:
    """Calls made by a call: they carry its chain, and keys derived from its key."""

    def __init__(self, parent: Call, *, reading: bool = False) -> None:
        self._parent = parent
        self._reading = reading
        self._repetitions: dict[str, int] = {}

    def __call__(self, endpoint: str, input: Any, query: Mapping[str, Any] | None, once: str | None) -> Any:
        parent, operation = self._parent, bindings.operation(endpoint)
        if self._reading and operation.spec.type not in (OperationType.OBSERVATION, OperationType.COMPUTATION):
            raise NotAllowedHere(f"{parent.endpoint} only reads: it may not call {endpoint}")
        reason = refuses_chain(parent.hops(), endpoint)
        if reason:
            raise NotAllowedHere(reason)
        request = [input, comparable(query)]
        same = derive(parent.key, endpoint, request, 0)
        repetition = self._repetitions[same] = self._repetitions.get(same, -1) + 1
        nested = Call(
            endpoint=endpoint,
            key=derive(parent.key, endpoint, request, repetition),
            caller=parent.endpoint,
            chain=parent.hops(),
            cause={"endpoint": parent.endpoint, "key": parent.key},
            lease=parent.lease,
        )
        return execute(operation, input, query, nested, once=once)


def comparable(query: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The query as what keys are derived from: a `Q` by what it says."""
    if query is not None and isinstance(query.get("criteria"), Q):
        return {**query, "criteria": repr(query["criteria"])}
    return query


def _transact(
    operation: Operation, request: Request, call: Call, key: str | None, given: tuple[Any, Mapping[str, Any] | None]
) -> Any:
    kept = None if key is None else once.key_digest(operation, call.caller, key)
    joined = _in_transaction()
    retries = operation.spec.concurrency is not Concurrency.NONE and not joined
    lock = Lock.REFUSE if operation.spec.concurrency is Concurrency.NONE else Lock.WAIT
    wait = FIRST_WAIT_S
    for tried in range(1, TRIES + 1):
        decided = False
        try:
            with transaction.atomic(using=settings.alias()):
                reply = _in_one_transaction(operation, request, call, kept, given, lock)
                decided = True
            return reply
        except _RolledBack as rolled_back:
            return rolled_back.reply
        except (OperationalError, InterfaceError) as error:
            if decided and not joined and not isinstance(error.__cause__, _CONTENTION):
                if kept is None:
                    raise OutcomeUnknown(
                        f"{operation.endpoint}: the connection was lost during COMMIT; the call may have taken effect",
                        hint="with a once key it can be called again safely",
                    ) from error
                connections[settings.alias()].close()  # the once record tells the next try how this one ended
            elif not isinstance(error.__cause__, _CONTENTION):
                raise
            if not (retries or decided) or tried == TRIES:
                raise Conflict(f"{operation.endpoint}: a concurrent change won") from error
        time.sleep(wait * random.uniform(0.5, 1.0))
        wait = min(wait * GROWTH, LONGEST_WAIT_S)
    raise AssertionError("the last try returns or raises")


def _in_one_transaction(
    operation: Operation,
    request: Request,
    call: Call,
    kept: str | None,
    given: tuple[Any, Mapping[str, Any] | None],
    lock: Lock,
) -> Any:
    if kept is None:
        return decide(operation, request, call, lock=lock)
    remembered = once.begin(operation, kept, *given, clock.clock().now())
    if remembered is not None:
        return remembered.reply
    reply = decide(operation, request, call, lock=lock)
    if isinstance(reply, Error):
        raise _RolledBack(reply)
    once.remember(kept, reply)
    return reply


def _replied(operation: Operation, *arguments: Any) -> Any:
    try:
        reply = operation.function(*arguments)
    except Error as error:
        reply = error
    return checked_reply(operation, reply)


def _in_transaction() -> bool:
    """Whether somebody's transaction is open. The blocks that Django's test cases open do not count."""
    blocks = connections[settings.alias()].atomic_blocks
    return any(not getattr(block, "_from_testcase", False) for block in blocks)
