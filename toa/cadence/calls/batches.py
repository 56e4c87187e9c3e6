"""Firing set by set: the calls due on the objects of one component, in one transaction and few statements.

Entities are locked in id order, then the calls' rows, neither waited for. Each function runs on a draft of what the
one before left; what they decided is written together: rows, revisions, deliveries, stored calls, history. A function
that raises leaves its object as it was, and is recorded. Where the database refuses a statement, the whole set is
rolled back and fired call by call, each in its own transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction

from toa.cadence.calls.collisions import Collisions
from toa.cadence.calls.firing import NOT_FOUND, call_of, check_chain, expired, struck
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import line, settle_error
from toa.cadence.calls.suspects import Docket, noted
from toa.core.allowance import Allowance, TookTooLong
from toa.core.calling import Armed, Call
from toa.core.error import Error
from toa.core.query import Query
from toa.core.specs import OperationSpec, Scope
from toa.exceptions import NotFound, ToaError
from toa.models import Outcome
from toa.runtime import arming, bindings, clock, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.deciding import Decision, conclude, entry_of
from toa.runtime.events import Change, deliver
from toa.runtime.journal import Settled, write_history
from toa.runtime.requests import Request, prepare, split
from toa.runtime.revising import revise
from toa.runtime.table import Lock, State
from toa.runtime.writing import Entry, check_references, difference_of

logger = logging.getLogger("toa.cadence")


class _Undone(Exception):
    """The set has to be fired call by call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredSet:
    """What became of a set. What is in none of the three was not reached."""

    settled: set[UUID] = field(default_factory=set)
    alone: list[Live] = field(default_factory=list)
    """To be fired alone."""
    held: list[Live] = field(default_factory=list)
    """Passed over: the call or its object was held by somebody else."""


@dataclass(slots=True)
class _Set:
    """What the functions of one set decided, before anything of it is written."""

    kind: Kind
    component: Component
    started: int
    states: dict[Any, State | None]
    """What each object is by now; null where there is none."""
    collisions: Collisions
    new: set[Any] = field(default_factory=set)
    columns: dict[Any, set[str]] = field(default_factory=dict)
    changes: list[tuple[Change, Call]] = field(default_factory=list)
    armed: list[tuple[Sequence[Armed], Call, str]] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    done: list[UUID] = field(default_factory=list)
    failed: list[tuple[Live, Exception, OperationSpec]] = field(default_factory=list)


def by_component(found: Sequence[Live]) -> list[tuple[Component, list[Live]]]:
    """The calls by the component they are for, each in the order of time, and within a pair in its own order."""
    sets: dict[str, tuple[Component, list[Live]]] = {}
    for live in found:
        component = bindings.operation(live.endpoint).component
        sets.setdefault(component.locator, (component, []))[1].append(live)
    return [(component, _in_turns(lives)) for component, lives in sets.values()]


def _in_turns(lives: list[Live]) -> list[Live]:
    """The same list with the deliveries of each pair put into their order, in the places that the pair has."""
    pairs: dict[tuple[str, str, str], list[Live]] = {}
    for live in lives:
        if live.pair is not None:
            pairs.setdefault(live.pair, []).append(live)
    turns = {pair: iter(sorted(of_pair, key=lambda live: live.turn)) for pair, of_pair in pairs.items()}
    return [live if live.pair is None else next(turns[live.pair]) for live in lives]


def divided(calls: Sequence[Live]) -> tuple[list[Live], list[Live]]:
    """Of calls in order of time, those that may be fired in sets, and those to be fired alone after them.

    These are what does not fit a set, and what comes behind it on the same object.
    """
    fitting, alone = [], []
    objects: set[tuple[str, Any]] = set()
    for live in calls:
        place = _object(live)
        if _fits_a_set(live) and place not in objects:
            fitting.append(live)
            continue
        alone.append(live)
        if place is not None:
            objects.add(place)
    return fitting, alone


def _object(live: Live) -> tuple[str, Any] | None:
    query = live.request.get("query") if isinstance(live.request, dict) else None
    identity = query.get("id") if isinstance(query, dict) else None
    return (bindings.operation(live.endpoint).component.locator, identity) if isinstance(identity, str | int) else None


def _fits_a_set(live: Live) -> bool:
    """Whether a call may be fired with others: it works on one object, named by its id and nothing else."""
    operation = bindings.operation(live.endpoint)
    # Rows written by SQL may hold anything; what does not hold fails alone.
    query = live.request.get("query") if isinstance(live.request, dict) else None
    return (
        operation.spec.scope in (Scope.ENTRY, Scope.CHANGESET)
        and isinstance(query, dict)
        and query.keys() == {"id"}
        # Events may have to wait for deadlines, which are looked at one object at a time.
        and not operation.component.spec.deadlines
    )


def fire_set(
    kind: Kind, component: Component, lives: Sequence[Live], docket: Docket | None, allowance: Allowance
) -> FiredSet:
    """Fire the calls of one component."""
    requests, alone = _prepared(component, lives)
    running: list[Live] = []
    try:
        with transaction.atomic(using=settings.alias()), noted(docket):
            work = _locked(kind, component, sorted({_id(request) for _, _, request in requests}, key=str))
            claimed = kind.claim_many([live for live, _, request in requests if _id(request) in work.states])
            mine = [one for one in requests if one[0].id in claimed]
            if docket is not None:
                docket.write([live.id for live, _, _ in mine])
            alone += _decide_all(work, mine, allowance, running)
            _write(work)
    except TookTooLong as error:
        # With a strike it is fired alone from now on; the others come with the next pass.
        last = running[-1]
        return FiredSet(settled={last.id} if struck(kind, last, str(error), clock.clock().now()) else set())
    except Exception as error:
        # Fired one by one, each call tells of its own trouble; what is no refusal of the database is told here too.
        if not isinstance(error, DatabaseError | ToaError | _Undone):
            logger.exception("a set of %s could not be fired", component.locator, extra={"action": "set_undone"})
        return FiredSet(alone=list(lives))
    settled = {*work.done, *(live.id for live, _, _ in work.failed)}
    passed = settled | {live.id for live in alone}
    held = [] if allowance.used_up else [live for live in lives if live.id not in passed]
    return FiredSet(settled=settled, alone=alone, held=held)


def _prepared(component: Component, lives: Sequence[Live]) -> tuple[list[tuple[Live, Operation, Request]], list[Live]]:
    """The calls whose request holds, and those whose does not: these fail, each in a transaction of its own."""
    requests, alone = [], []
    for live in lives:
        operation = bindings.operation(live.endpoint)
        try:
            check_chain(live)
            requests.append((live, operation, prepare(operation, *split(live.request))))
        except ToaError:
            alone.append(live)
    return requests, alone


def _locked(kind: Kind, component: Component, wanted: Sequence[Any]) -> _Set:
    """Lock the objects of these ids; those that somebody else holds are not among the states."""
    table = component.table
    now = clock.clock().now()
    states: dict[Any, State | None] = dict(table.fetch(wanted, Lock.SKIP)) if wanted else {}
    missing = [identity for identity in wanted if identity not in states]
    held = table.fetch(missing) if missing else {}
    states |= {identity: None for identity in missing if identity not in held}
    return _Set(kind, component, now, states, Collisions(component))


def _decide_all(
    work: _Set, calls: Sequence[tuple[Live, Operation, Request]], allowance: Allowance, running: list[Live]
) -> list[Live]:
    """Run the functions in order of time; returns the calls that have to be fired alone."""
    alone: list[Live] = []
    behind: set[Any] = set()
    """Objects and pairs with a call that is fired alone, after the set."""
    stopped: set[Any] = set()
    """Pairs with a call that failed: those behind it stay, it is tried again, or parks, before them."""
    for live, operation, request in calls:
        identity = _id(request)
        if allowance.used_up:
            break
        if live.pair in stopped:
            continue
        if identity in behind or live.pair in behind:
            alone.append(live)
            behind |= {identity, live.pair} - {None}
            continue
        running.append(live)
        try:
            if expired(live, work.started):
                _settle(work, live, Outcome.EXPIRED, "overdue")
                continue
            call = call_of(live)
            entry = entry_of(operation, identity, work.states[identity], request.query)  # type: ignore[arg-type]
            decision = conclude(operation, request, call, entry)
            if _takes_back(decision):
                # What is taken back must be locked before anything is written: a transaction of its own does that.
                alone.append(live)
                behind |= {identity, live.pair} - {None}
                continue
            _accept(work, live, call, entry, decision)
        except NotFound:
            _settle(work, live, Outcome.REFUSED, NOT_FOUND)
        except _Undone:
            raise
        except Exception as error:
            work.failed.append((live, error, operation.spec))
            stopped |= {live.pair} - {None}
    return alone


def _accept(work: _Set, live: Live, call: Call, entry: Entry, decision: Decision) -> None:
    if isinstance(decision.reply, Error):
        _settle(work, live, Outcome.REFUSED, decision.reply.code)
        return
    identity = entry.draft["id"]
    difference = difference_of(work.component, entry, {}, decision.now)
    if difference is not None:
        if work.collisions.meets(difference.change):
            raise _Undone
        if entry.origin is None:
            work.new.add(identity)
        work.columns.setdefault(identity, set()).update(difference.columns)
        work.states[identity] = difference.change.state
        work.changes.append((difference.change, call))
    if decision.intentions.armed:
        work.armed.append((decision.intentions.armed, call, f"{work.component.locator}:{identity}"))
    _settle(work, live, Outcome.MADE, "")


def _settle(work: _Set, live: Live, outcome: Outcome, code: str) -> None:
    work.done.append(live.id)
    work.settled.append(line(live, outcome, code, work.started, clock.clock().now()))


def _write(work: _Set) -> None:
    table = work.component.table
    created = [state for identity in work.new if (state := work.states[identity]) is not None]
    if created and not table.insert_many(created):
        raise _Undone  # somebody else made one of them first
    alike: dict[frozenset[str], list[State]] = {}
    for identity, columns in work.columns.items():
        state = work.states[identity]
        if identity not in work.new and state is not None:
            alike.setdefault(frozenset(columns), []).append(state)
    for names, states in alike.items():
        table.update_many(sorted(names), states)
    if work.changes:
        check_references(work.component)
        revise(work.changes)
        deliver(work.changes)
    arming.store_all(work.armed, work.started)
    if work.done:
        work.kind.remove_many(work.done)
        write_history(work.settled)
    for live, error, spec in work.failed:
        settle_error(work.kind, live, error, spec, work.started, clock.clock().now())


def _takes_back(decision: Decision) -> bool:
    intentions = decision.intentions
    named = any(one.name is not None for one in intentions.armed)
    return bool(intentions.cancelled or intentions.moved or intentions.closed or named)


def _id(request: Request) -> Any:
    query: Query | None = request.query
    assert query is not None
    return query.id
