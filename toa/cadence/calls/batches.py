"""Firing set by set: the calls due on the objects of one component, in one transaction and few statements.

Entities are locked in id order, then the calls' rows, neither waited for. Each function runs on a draft of what the
one before left; what they decided is written together with the history. A function that raises leaves its object as it
was, and is recorded. An event that its object cannot take as it stands is left to be fired alone, as what comes behind
it on the same object is. Where the database refuses a statement, the whole set is rolled back and fired call by call,
each in its own transaction.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction

from toa.cadence.calls.decided import Decided, Undone, takes_back
from toa.cadence.calls.firing import NOT_FOUND, call_of, check_chain, expired, struck
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import line, settle_error
from toa.cadence.calls.suspects import Docket, noted
from toa.cadence.deadlines.admitting import unhindered
from toa.cadence.deadlines.holding import stop
from toa.core.allowance import Allowance, TookTooLong
from toa.core.error import Error
from toa.core.query import Query
from toa.core.specs import Scope
from toa.exceptions import NotFound, ToaError
from toa.models import Outcome
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.deciding import conclude, entry_of
from toa.runtime.journal import Settled, write_history
from toa.runtime.requests import Request, prepare, split
from toa.runtime.table import State

logger = logging.getLogger("toa.cadence")


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
    """What becomes of the calls of one set, before anything of it is written."""

    kind: Kind
    decided: Decided
    settled: list[Settled] = field(default_factory=list)
    done: list[UUID] = field(default_factory=list)
    failed: list[tuple[Live, Exception, Operation, State | None]] = field(default_factory=list)


def by_component(found: Sequence[Live]) -> list[tuple[Component, list[Live]]]:
    """The calls by the component they are for: each endpoint in turn, and what is for one object, or of one pair, in
    its order of time."""
    sets: dict[str, tuple[Component, list[Live]]] = {}
    for live in found:
        component = bindings.operation(live.endpoint).component
        sets.setdefault(component.locator, (component, []))[1].append(live)
    return [(component, _in_turns(_mixed(lives))) for component, lives in sets.values()]


def _mixed(lives: list[Live]) -> list[Live]:
    """Calls in order of time as the first of each endpoint, the second of each, and so on: where there is no time for
    all of them, a backlog of one endpoint leaves some for the others. Those for one object stay in their order."""
    places: Counter[str] = Counter()
    turns: list[tuple[int, Live]] = []
    for live in lives:
        turns.append((places[live.endpoint], live))
        places[live.endpoint] += 1
    if len(places) == 1:
        return lives
    mixed = [live for _, live in sorted(turns, key=lambda turn: turn[0])]
    return _reordered(mixed, lives, object_of)


def _in_turns(lives: list[Live]) -> list[Live]:
    """The same list with the deliveries of each pair put into their order, in the places that the pair has."""
    return _reordered(lives, sorted(lives, key=lambda live: live.turn), lambda live: live.pair)


def _reordered(lives: Sequence[Live], ordered: Iterable[Live], of: Callable[[Live], Hashable]) -> list[Live]:
    """The calls with those that have the same `of` put into the order of the other list, in the places that they have
    among all; where it is null, a call stays where it is."""
    alike: dict[Hashable, list[Live]] = {}
    for live in ordered:
        if (key := of(live)) is not None:
            alike.setdefault(key, []).append(live)
    turns = {key: iter(calls) for key, calls in alike.items()}
    return [live if (key := of(live)) is None else next(turns[key]) for live in lives]


def divided(calls: Sequence[Live]) -> tuple[list[Live], list[Live]]:
    """Of calls in order of time, those that may be fired in sets, and those to be fired alone after them.

    These are what does not fit a set, and what comes behind it on the same object.
    """
    fitting, alone = [], []
    objects: set[tuple[str, Any]] = set()
    for live in calls:
        place = object_of(live)
        if _fits_a_set(live) and place not in objects:
            fitting.append(live)
            continue
        alone.append(live)
        if place is not None:
            objects.add(place)
    return fitting, alone


def object_of(live: Live) -> tuple[str, Any] | None:
    """The component and id of the one object that a call names; null where it names none."""
    query = live.request.get("query") if isinstance(live.request, dict) else None
    identity = query.get("id") if isinstance(query, dict) else None
    return (bindings.operation(live.endpoint).component.locator, identity) if isinstance(identity, str | int) else None


def _fits_a_set(live: Live) -> bool:
    """Whether a call may be fired with others: it works on one object, named by its id and nothing else."""
    operation = bindings.operation(live.endpoint)
    # Rows written by SQL may hold anything; what does not hold fails alone.
    query = live.request.get("query") if isinstance(live.request, dict) else None
    return operation.spec.scope in (Scope.ENTRY, Scope.CHANGESET) and isinstance(query, dict) and query.keys() == {"id"}


def fire_set(
    kind: Kind, component: Component, lives: Sequence[Live], docket: Docket | None, allowance: Allowance
) -> FiredSet:
    """Fire the calls of one component."""
    requests, alone = _prepared(component, lives)
    running: list[Live] = []
    try:
        with transaction.atomic(using=settings.alias()), noted(docket):
            work = _Set(kind, Decided.on(component, {_id(request) for _, _, request in requests}))
            claimed = kind.claim_many([live for live, _, request in requests if _id(request) in work.decided.states])
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
        if not isinstance(error, DatabaseError | ToaError | Undone):
            logger.exception("a set of %s could not be fired", component.locator, extra={"action": "set_undone"})
        return FiredSet(alone=list(lives))
    settled = {*work.done, *(live.id for live, *_ in work.failed)}
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


def _decide_all(
    work: _Set, calls: Sequence[tuple[Live, Operation, Request]], allowance: Allowance, running: list[Live]
) -> list[Live]:
    """Run the functions in order of time, one at least; returns the calls that have to be fired alone."""
    alone: list[Live] = []
    behind: set[Any] = set()
    """Objects and pairs with a call that is fired alone, after the set."""
    stopped: set[Any] = set()
    """Pairs with a call that failed: those behind it stay, it is tried again, or parks, before them."""

    def aside(live: Live, identity: Any) -> None:
        alone.append(live)
        behind.update({identity, live.pair} - {None})

    decided = work.decided
    for live, operation, request in calls:
        identity = _id(request)
        if running and allowance.used_up:
            break
        if live.pair in stopped:
            continue
        if identity in behind or live.pair in behind or not unhindered(live, decided.states[identity]):
            aside(live, identity)
            continue
        running.append(live)
        try:
            if expired(live, decided.started):
                _settle(work, live, Outcome.EXPIRED, "overdue")
                continue
            call = call_of(live)
            entry = entry_of(operation, identity, decided.states[identity], request.query)  # type: ignore[arg-type]
            decision = conclude(operation, request, call, entry)
            if takes_back(decision):
                aside(live, identity)
            elif isinstance(decision.reply, Error):
                _settle(work, live, Outcome.REFUSED, decision.reply.code)
            else:
                decided.accept(call, entry, decision)
                _settle(work, live, Outcome.MADE, "")
        except NotFound:
            _settle(work, live, Outcome.REFUSED, NOT_FOUND)
        except Undone:
            raise
        except Exception as error:
            work.failed.append((live, error, operation, decided.states[identity]))
            stopped |= {live.pair} - {None}
            if _stops(work.kind, operation):
                # Those behind it find their object stopped, or as it is once this one is tried again.
                behind.add(identity)
    return alone


def _settle(work: _Set, live: Live, outcome: Outcome, code: str) -> None:
    work.done.append(live.id)
    work.settled.append(line(live, outcome, code, work.decided.started, clock.clock().now()))


def _write(work: _Set) -> None:
    work.decided.write()
    if work.done:
        work.kind.remove_many(work.done)
        write_history(work.settled)
    for live, error, operation, state in work.failed:
        outcome = settle_error(work.kind, live, error, operation.spec, work.decided.started, clock.clock().now())
        if outcome is Outcome.FAILED and state is not None and _stops(work.kind, operation):
            stop(operation.component, state)


def _stops(kind: Kind, operation: Operation) -> bool:
    """Whether a call of this kind that fails stops its object."""
    return kind.parks and bool(operation.component.spec.deadlines)


def _id(request: Request) -> Any:
    query: Query | None = request.query
    assert query is not None
    return query.id
