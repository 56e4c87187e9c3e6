"""A round over many instances in one transaction: the earliest due deadline of each, in few statements.

The rows are locked in id order, what is held is left out, and what is due is worked out from the locked states. The
transitions run on drafts, the oldest moment first, and what they decided is written together. One that fails leaves
its row as it was and is recorded for its instance alone. What needs a transaction of its own is left to be run alone.
Where the database refuses a statement, the whole round is rolled back and run instance by instance.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, transaction

from toa.cadence.calls.decided import Decided, Undone, takes_back
from toa.cadence.calls.suspects import Docket, noted
from toa.cadence.deadlines.holding import convict, hold
from toa.cadence.deadlines.identity import call_of, id_of, line, operation_of, tries
from toa.cadence.deadlines.instances import FREE, check_reply, record, runs
from toa.cadence.deadlines.waiting import waiting
from toa.core.allowance import Allowance, TookTooLong
from toa.core.calling import Call
from toa.core.deadlines import Reached, earliest
from toa.exceptions import ToaError
from toa.models import Outcome
from toa.runtime import clock, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.deciding import conclude, entry_of
from toa.runtime.journal import Settled, write_history
from toa.runtime.requests import prepare
from toa.runtime.table import Lock, State

logger = logging.getLogger("toa.cadence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What became of the instances of a round. What is in neither was held, not reached, or had nothing due."""

    done: set[Any] = field(default_factory=set)
    alone: list[Any] = field(default_factory=list)
    """To be run alone, in this order."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A locked instance and the deadline that is due."""

    identity: Any
    state: State
    reached: Reached
    operation: Operation
    call: Call


@dataclass(slots=True)
class _Work:
    """A round under way."""

    decided: Decided
    docket: Docket | None
    done: set[Any] = field(default_factory=set)
    alone: list[Any] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    failed: list[tuple[_Due, Exception]] = field(default_factory=list)
    running: _Due | None = None


def run_round(component: Component, identities: Sequence[Any], docket: Docket | None, allowance: Allowance) -> Round:
    """Run the earliest due deadline of each of these instances, which are in order of time."""
    work = _Work(Decided(component, clock.clock().now(), {}), docket)
    try:
        with transaction.atomic(using=settings.alias()), noted(docket):
            _decide_all(work, _ready(work, _locked(work, identities)), allowance)
            _write(work)
    except TookTooLong as error:
        # Having been tried it runs alone from now on; the others come with the next pass.
        last = work.running
        assert last is not None
        recorded = record(component, last.identity, last.reached, TimeoutError(str(error)))
        return Round(done={last.identity} if recorded else set())
    except Exception as error:
        # Run one by one, each tells of its own trouble; what is no refusal of the database is told here too.
        if not isinstance(error, DatabaseError | ToaError | Undone):
            logger.exception("a round over %s could not be run", component.locator, extra={"action": "set_undone"})
        return Round(alone=list(identities))
    return Round(done=work.done, alone=work.alone)


def _locked(work: _Work, identities: Sequence[Any]) -> list[_Due]:
    """Lock what nobody else holds; returns those with a deadline that is due and waits for nothing, in order."""
    component, now = work.decided.component, work.decided.started
    states = component.table.fetch(identities, Lock.SKIP)
    due: dict[Any, tuple[State, Reached]] = {}
    for identity in identities:
        state = states.get(identity)
        if state is None or not runs(state, now):
            continue
        reached = earliest(state, component.spec.deadlines)
        if reached is not None and reached.moment <= now:
            due[identity] = (state, reached)
        elif state["HELD"] is not None:
            _put(work, identity, state, FREE)
    for identity, held in waiting(component, list(due.values()), now).items():
        _put(work, identity, due.pop(identity)[0], held)
    return [_of(component, identity, *one) for identity, one in due.items()]


def _of(component: Component, identity: Any, state: State, reached: Reached) -> _Due:
    operation = operation_of(component, reached)
    return _Due(identity, state, reached, operation, call_of(component, operation, state, reached))


def _put(work: _Work, identity: Any, state: State, system: State) -> None:
    work.decided.put(state, system)
    work.done.add(identity)


def _ready(work: _Work, due: Sequence[_Due]) -> list[_Due]:
    """Those to run together, put on the docket. What was tried before runs alone, and what some process died running
    once that is recorded."""
    component, docket, now = work.decided.component, work.docket, work.decided.started
    accused = docket.accused([id_of(one.call) for one in due]) if docket is not None else {}
    ready: list[_Due] = []
    tried: list[Any] = []
    for one in due:
        call = id_of(one.call)
        if docket is not None and call in accused:
            convict(component, one.state, one.reached, call, now, docket, among=accused[call])
            work.done.add(one.identity)
        elif tries(one.state, one.reached):
            tried.append(one.identity)
        else:
            ready.append(one)
    # What a process was to run after the one it died over is blameless: the last of them comes first.
    work.alone += reversed(tried)
    if docket is not None:
        docket.write([id_of(one.call) for one in ready])
    return ready


def _decide_all(work: _Work, ready: Sequence[_Due], allowance: Allowance) -> None:
    for one in ready:
        if allowance.used_up:
            break
        work.running = one
        try:
            _decide(work, one)
        except Undone:
            raise
        except Exception as error:
            work.failed.append((one, error))


def _decide(work: _Work, one: _Due) -> None:
    operation = one.operation
    request = prepare(operation, None, {"id": one.identity})
    entry = entry_of(operation, one.identity, one.state, request.query)  # type: ignore[arg-type]
    decision = conclude(operation, request, one.call, entry, one.reached)
    check_reply(operation, one.reached, decision.reply)
    if takes_back(decision):
        work.alone.append(one.identity)
        return
    work.decided.accept(one.call, entry, decision, one.reached)
    component, now = work.decided.component, work.decided.started
    work.settled.append(line(component, one.identity, one.call, one.reached, Outcome.MADE, "", now))
    work.done.add(one.identity)


def _write(work: _Work) -> None:
    work.decided.write()
    write_history(work.settled)
    for one, error in work.failed:
        hold(work.decided.component, one.state, one.reached, error, clock.clock().now())
        work.done.add(one.identity)
