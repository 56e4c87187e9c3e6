"""One round over runs that are locked: what their functions decide, the transitions that they wait for, and writing all
of it together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import DatabaseError

from toa.cadence.calls.decided import Decided, Undone, takes_back
from toa.cadence.calls.live import Live
from toa.cadence.source import BACKSTOP_MS
from toa.core.allowance import Allowance
from toa.core.clock import to_datetime
from toa.core.error import Error
from toa.core.specs import OperationType, Scope
from toa.runtime import clock, waking
from toa.runtime.bindings import Component
from toa.runtime.deciding import conclude, entry_of, new_entry
from toa.runtime.journal import Settled, write_history
from toa.runtime.sql import insert_rows
from toa.workflow import writing
from toa.workflow.driving import Driven
from toa.workflow.ending import concluded, settled
from toa.workflow.entries import answered
from toa.workflow.machine import Machine
from toa.workflow.pauses import Ended, Pause, Perform, Wait, Write
from toa.workflow.performing import CALLS, Prepared
from toa.workflow.rows import Row
from toa.workflow.writing import Written


@dataclass(slots=True)
class One:
    """One run on its way through the rounds of a set."""

    live: Live
    row: Row | None = None
    """As it was locked or written last; null where it was not yet."""
    machine: Machine | None = None
    asks: Perform | None = None
    """The call that its function stopped before."""

    @property
    def locked(self) -> Row:
        assert self.row is not None
        return self.row

    @property
    def driven(self) -> Machine:
        assert self.machine is not None
        return self.machine

    def close(self) -> None:
        """Give its function up, once nothing of it is to be written any more."""
        if self.machine is not None:
            self.machine.close()


class _Alone(Exception):
    """This run needs a transaction of its own."""


@dataclass(slots=True)
class Round:
    """What becomes of the runs of one round, before anything of it is written."""

    allowance: Allowance
    driven: dict[UUID, Driven] = field(default_factory=dict)
    alone: set[UUID] = field(default_factory=set)
    running: One | None = None
    """The one whose function runs, or ran last."""
    _asking: dict[str, tuple[Component, list[tuple[One, Prepared]]]] = field(default_factory=dict)
    """Those that wait for a transition, by the component of its object."""
    _decided: list[Decided] = field(default_factory=list)
    _written: list[tuple[One, Written]] = field(default_factory=list)
    _calls: list[dict[str, Any]] = field(default_factory=list)
    _ended: list[tuple[Row, dict[str, Any]]] = field(default_factory=list)
    _settled: list[Settled] = field(default_factory=list)
    _soonest: int | None = None

    def go(self, ready: Sequence[One]) -> None:
        """Have every run go on as far as it goes in this round; one at least, however little time there is."""
        with self.allowance.part(of=2):  # the rest is for the transitions that they ask for
            for number, one in enumerate(ready):
                if number and self.allowance.used_up:
                    break
                self._guarded(one, partial(self._follow, one, one.asks))
        for component, asking in self._asking.values():
            self._transitions(component, asking)

    def write(self) -> None:
        """Write all of it, in the open transaction."""
        for decided in self._decided:
            decided.write()
        writing.write_many([written for _, written in self._written])
        insert_rows(CALLS.table, self._calls)
        writing.remove_many(self._ended)
        write_history(self._settled)
        if self._soonest is not None:
            waking.after_commit(to_datetime(self._soonest), to_datetime(clock.clock().now()))

    def committed(self) -> list[One]:
        """The database has it; returns those that can go on at once together."""
        for one, written in self._written:
            written.journal.committed()
            one.row = written.after()
        left = [one for one, _ in self._written if self.driven[one.live.id] is Driven.LEFT]
        return [one for one in left if one.live.id not in self.alone]

    # -- one run --------------------------------------------------------------------------------------------

    def _guarded(self, one: One, go: Callable[[], None]) -> None:
        self.running = one
        try:
            go()
        except (DatabaseError, Undone):
            raise
        except Exception:  # told of where it goes on alone, from the same journal
            self.alone.add(one.live.id)

    def _follow(self, one: One, pause: Pause | None, *, made: bool = False) -> None:
        """Go on until something has to be written. `made` says that a transition was made for it in this round."""
        machine, one.asks = one.driven, None
        while True:
            pause = pause or machine.advance()
            if machine.withdrawn:
                raise _Alone
            match pause:
                case Wait():
                    self._wait(one, pause)
                case Write():
                    self._leave(one)
                case Ended(cancelled=False):
                    self._end(one, pause)
                case Perform():
                    if self._perform(one, pause, made):
                        pause = None
                        continue
                case _:
                    raise _Alone
            return

    def _perform(self, one: One, perform: Perform, made: bool) -> bool:
        """Call an operation, or see to it that it is called; whether the answer is known by now."""
        prepared = Prepared(one.locked, perform)
        computes = prepared.operation.spec.type is OperationType.COMPUTATION
        if made and not computes:
            # It is to find what was made, which is written at the end of the round.
            one.asks = perform
            self._leave(one)
        elif computes or prepared.operation.spec.type is OperationType.OBSERVATION:
            one.driven.record(*answered(prepared.look(), f"the reply of {perform.calling.name}"))
            return True
        elif prepared.is_effect:
            call = prepared.row_of(one.driven.now())
            self._wait(one, one.driven.waiting(None, call=call["id"].hex))
            self._calls.append(call)
            self._wake(one.driven.now())
        elif _is_for_one_object(prepared):
            component = prepared.operation.component
            self._asking.setdefault(component.locator, (component, []))[1].append((one, prepared))
        else:
            raise _Alone
        return False

    def _wait(self, one: One, wait: Wait) -> None:
        self._write(one, wait.waits, wait.until)
        self.driven[one.live.id] = Driven.MOVED
        if wait.until is not None:
            self._wake(wait.until)

    def _leave(self, one: One) -> None:
        """Write what was done of a run that can go on at once."""
        self._write(one, None, one.locked.wake)
        self.driven[one.live.id] = Driven.LEFT

    def _end(self, one: One, end: Ended) -> None:
        row, now = one.locked, clock.clock().now()
        outcome, result, code = concluded(row, end)
        self._ended.append((row, writing.record_of(row, one.driven.journal.items(), outcome, result, code, now)))
        self._settled.append(settled(row, outcome, code, now))
        self.driven[one.live.id] = Driven.MOVED

    def _write(self, one: One, waits: dict[str, Any] | None, wake: int | None) -> None:
        machine = one.driven
        written = Written(
            row=one.locked, journal=machine.journal, watches=machine.progress.watches, waits=waits, wake=wake
        )
        self._written.append((one, written))

    def _wake(self, moment: int) -> None:
        self._soonest = moment if self._soonest is None else min(self._soonest, moment)

    # -- transitions ----------------------------------------------------------------------------------------

    def _transitions(self, component: Component, asking: Sequence[tuple[One, Prepared]]) -> None:
        """Make transitions on objects of one component, and have the runs that wait for them go on."""
        decided = Decided.on(component, {prepared.query.id for _, prepared in asking if prepared.query is not None})
        self._decided.append(decided)
        for number, (one, prepared) in enumerate(asking):
            if number and self.allowance.used_up:
                return
            self._guarded(one, partial(self._transition, one, prepared, decided))

    def _transition(self, one: One, prepared: Prepared, decided: Decided) -> None:
        operation, query, call = prepared.operation, prepared.query, prepared.call()
        if query is None:
            entry = new_entry(operation)
        elif query.id in decided.states:
            entry = entry_of(operation, query.id, decided.states[query.id], query)
        elif decided.started - one.live.wake >= BACKSTOP_MS:
            raise _Alone  # which waits for the object
        else:
            self.driven[one.live.id] = Driven.HELD
            return
        decision = conclude(operation, prepared.request, call, entry)
        if takes_back(decision):
            raise _Alone
        answer = answered(decision.reply, f"the reply of {operation.endpoint}")
        if not isinstance(decision.reply, Error):
            decided.accept(call, entry, decision)
        one.driven.record(*answer)
        try:
            self._follow(one, None, made=True)
        except (DatabaseError, Undone):
            raise
        except Exception:
            # What was made for it stays made. It goes on alone from there.
            self._leave(one)
            raise


def _is_for_one_object(prepared: Prepared) -> bool:
    """Whether a call can be made together with others: it works on a new object, or on one that is named by its id and
    nothing else."""
    given = prepared.perform.calling.query
    alone = given is None or dict(given).keys() == {"id"}
    return alone and prepared.writes and prepared.operation.spec.scope in (Scope.ENTRY, Scope.CHANGESET)
