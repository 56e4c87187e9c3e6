"""Transitions and assignments: lock the rows, run the function on drafts, write the difference.

`decide` runs in a transaction that the caller has opened: a call of a person opens one for itself
(`toa.runtime.calls`), a firing pass opens one in which it also settles the stored call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toa.core import draft as drafts
from toa.core.allowance import drawing
from toa.core.calling import Call, Intentions
from toa.core.criteria import matches
from toa.core.deadlines import Reached, left_standing
from toa.core.draft import Draft
from toa.core.error import Error
from toa.core.purity import watched
from toa.core.query import Query
from toa.core.record import as_record
from toa.core.specs import OperationType, Scope
from toa.exceptions import Busy, InvalidInput, NotFound, OperationFault, PreconditionFailed
from toa.runtime import inherited
from toa.runtime.bindings import Operation
from toa.runtime.context import TransitionContext
from toa.runtime.requests import Request
from toa.runtime.selecting import select_ids
from toa.runtime.table import Lock, State
from toa.runtime.writing import Entry, LostCreationRace, write


@dataclass(frozen=True, slots=True)
class Verdict:
    """What whoever fires a call decided about it once its rows were locked: the function is not run."""

    name: str


def decide(
    operation: Operation,
    request: Request,
    call: Call,
    *,
    lock: Lock = Lock.WAIT,
    locked: Callable[[Sequence[Entry]], Verdict | None] | None = None,
    reached: Reached | None = None,
) -> Any:
    """Run a transition or an assignment in the open transaction; returns its reply, or the Error it replied with.

    `locked` is called once the rows are locked, before the function runs; a Verdict that it gives is returned in
    place of a reply. `reached` is the deadline that the transition is called for, which it must do away with. Raises
    Busy where `lock` is SKIP and a row is held; NotFound, PreconditionFailed and Conflict as they say.
    """
    while True:
        try:
            entries = _entries(operation, request.query, lock)
            verdict = locked(entries) if locked is not None else None
            return _run_on(operation, request, call, entries, lock, reached) if verdict is None else verdict
        except LostCreationRace:
            continue  # the row is there now: lock it and decide again, on what the other one wrote


def _run_on(
    operation: Operation, request: Request, call: Call, entries: list[Entry], lock: Lock, reached: Reached | None
) -> Any:
    context = TransitionContext(operation, call)
    if request.query is not None:
        _recheck(operation, request.query, entries, context.now())
    reply = _run(operation, request, entries, context)
    if isinstance(reply, Error):
        return reply
    if reached is not None:
        _check_done_away(operation, entries[0], reached)
    write(operation, entries, context._intentions, call, context.now(), lock, reached)
    return reply


@dataclass(frozen=True, slots=True)
class Decision:
    """What a function decided about one row, with nothing written yet."""

    reply: Any
    intentions: Intentions
    now: int


def conclude(
    operation: Operation, request: Request, call: Call, entry: Entry, reached: Reached | None = None
) -> Decision:
    """Run the function of a call on the draft of one row that is locked already; writes nothing.

    For calls whose query names one object and nothing else. `reached` is as for `decide`.
    """
    context = TransitionContext(operation, call)
    reply = _run(operation, request, [entry], context)
    if reached is not None and not isinstance(reply, Error):
        _check_done_away(operation, entry, reached)
    return Decision(reply, context._intentions, context.now())


def _check_done_away(operation: Operation, entry: Entry, reached: Reached) -> None:
    if reason := left_standing(entry.draft, reached):
        raise OperationFault(f"{operation.endpoint}: {reason}")


def new_entry(operation: Operation) -> Entry:
    """The entry of a row that a call without a query makes, under a new id."""
    table = operation.component.table
    return Entry(origin=None, draft=Draft(table.blank(table.new_id()), _writable(operation)), create=True)


def entry_of(operation: Operation, identity: Any, state: State | None, query: Query) -> Entry:
    """The entry of one locked row; raises NotFound where there is none and the operation makes none."""
    if state is not None:
        _live(state, operation)
    return _entry(operation, identity, state, query)


def _entries(operation: Operation, query: Query | None, lock: Lock) -> list[Entry]:
    table = operation.component.table
    if query is None:
        return [new_entry(operation)]
    if operation.spec.scope is Scope.ENTRIES:
        wanted: Sequence[Any] = select_ids(operation.component, query)
    else:
        wanted = [query.id]
    found = table.fetch(wanted, lock) if wanted else {}
    if lock is Lock.SKIP and len(found) < len(wanted) and len(table.fetch(wanted)) > len(found):
        raise Busy(f"{operation.component.locator}: a row is held by somebody else")
    if operation.spec.scope is Scope.ENTRIES:
        found = {identity: found[identity] for identity in wanted if identity in found}
    else:
        found = {query.id: found.get(query.id)}  # type: ignore[dict-item]
    return [_entry(operation, identity, state, query) for identity, state in found.items() if _live(state, operation)]


def _live(state: State | None, operation: Operation) -> bool:
    if state is not None and state["DELETED"] is not None:
        if operation.spec.scope is Scope.ENTRIES:
            return False
        raise NotFound(f"{operation.component.locator} {state['id']} was terminated")
    return True


def _entry(operation: Operation, identity: Any, state: State | None, query: Query) -> Entry:
    table = operation.component.table
    if state is not None:
        return Entry(origin=state, draft=Draft(state, _writable(operation)))
    creates = table.entity.associated or (operation.spec.name in inherited.CREATING and operation.spec.inherited)
    if not creates or query.version or query.criteria is not None:
        # An object that the criteria would hide must not be told from one that is missing.
        if query.version and query.criteria is None:
            raise PreconditionFailed(f"{operation.component.locator} {identity} does not exist, at no version")
        raise NotFound(f"{operation.component.locator} has no {identity}")
    return Entry(origin=None, draft=Draft(table.blank(identity), _writable(operation)))


def _writable(operation: Operation) -> frozenset[str]:
    writable = operation.component.table.writable
    if operation.spec.inherited and operation.spec.name in inherited.TOMBSTONING:
        return writable | {"DELETED"}
    return writable


def _recheck(operation: Operation, query: Query, entries: list[Entry], now: int) -> None:
    """Look at version and criteria again on the locked rows: what selected them may have changed since."""
    one = operation.spec.scope is not Scope.ENTRIES
    for entry in list(entries):
        state = drafts.state(entry.draft)
        # Criteria first: the version of an object that they hide is nobody's business.
        if query.criteria is not None and not matches(query.criteria, state, now):
            if one:
                raise NotFound(f"{operation.component.locator} {state['id']} does not fit the criteria")
            entries.remove(entry)
        elif query.version is not None and state["VERSION"] != query.version:
            raise PreconditionFailed(
                f"{operation.component.locator} {state['id']} is at version {state['VERSION']}, not {query.version}"
            )


def _run(operation: Operation, request: Request, entries: list[Entry], context: TransitionContext) -> Any:
    try:
        with drawing(), watched():
            if operation.spec.type is OperationType.ASSIGNMENT:
                reply = _assign(operation, request.input, entries[0].draft, context)
            elif operation.spec.scope is Scope.ENTRIES:
                reply = operation.function(request.input, [entry.draft for entry in entries], context)
            else:
                reply = operation.function(request.input, entries[0].draft, context)
    except Error as error:
        reply = error
    return checked_reply(operation, reply)


def _assign(operation: Operation, input: Any, entry: Draft, context: TransitionContext) -> Any:
    changeset = dict(input or {})
    reply = operation.function(input, changeset, context)
    if isinstance(reply, Error):
        return reply
    unknown = sorted(set(changeset) - operation.component.table.writable)
    if unknown:
        raise InvalidInput(f"{operation.component.locator} has no property {unknown[0]!r} to assign")
    for name, value in changeset.items():
        entry[name] = value
    return reply


def checked_reply(operation: Operation, reply: Any) -> Any:
    """A reply that keeps to the declaration; raises OperationFault for one that does not."""
    if isinstance(reply, Error):
        if reply.code not in operation.spec.errors:
            raise OperationFault(
                f"{operation.endpoint} replied with the undeclared Error {reply.code!r}",
                hint=f"declare it under `errors:` in {operation.component.spec.path}",
            )
        return reply
    if isinstance(reply, Draft):
        reply = dict(reply)
    elif isinstance(reply, list):
        reply = [dict(one) if isinstance(one, Draft) else one for one in reply]
    if operation.output is not None:
        try:
            reply = operation.output.check(reply)
        except InvalidInput as problem:
            raise OperationFault(f"{operation.endpoint}: the reply does not fit `output`: {problem}") from problem
    return as_record(reply)
