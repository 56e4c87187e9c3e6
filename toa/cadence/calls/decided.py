"""What the functions of one set decided about the objects of a component, and writing all of it by few statements.

Nothing is written before every function has run. Each runs on a draft of what the one before left of its object;
rows, revisions, deliveries and stored calls are then written together. Where that cannot come out as it would call by
call, the set is undone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from toa.cadence.calls.collisions import Collisions
from toa.core.calling import Armed, Call
from toa.core.deadlines import Reached
from toa.runtime import arming, clock
from toa.runtime.bindings import Component
from toa.runtime.deciding import Decision
from toa.runtime.events import Change, deliver
from toa.runtime.revising import revise
from toa.runtime.table import Lock, State
from toa.runtime.writing import Entry, check_references, clockwork, difference_of


class Undone(Exception):
    """The set has to be rolled back, and what it was to do done one by one."""


def takes_back(decision: Decision) -> bool:
    """Whether a decision takes stored calls back or moves them. They must be locked before anything is written, and
    nobody waits for one while he holds a set of objects: a transaction of its own does that."""
    intentions = decision.intentions
    named = any(one.name is not None for one in intentions.armed)
    return bool(intentions.cancelled or intentions.moved or named)


@dataclass(slots=True)
class Decided:
    """What was decided so far."""

    component: Component
    started: int
    """When the set began, epoch ms."""
    states: dict[Any, State | None]
    """What each locked object is by now; null where there is none."""
    _collisions: Collisions = field(init=False)
    _new: set[Any] = field(default_factory=set)
    _columns: dict[Any, set[str]] = field(default_factory=dict)
    _changes: list[tuple[Change, Call]] = field(default_factory=list)
    _reached: list[Reached | None] = field(default_factory=list)
    _armed: list[tuple[Sequence[Armed], Call, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._collisions = Collisions(self.component)

    @classmethod
    def on(cls, component: Component, identities: Collection[Any]) -> Decided:
        """Lock the objects of these ids, in id order; those that somebody else holds are not among the states."""
        table, wanted = component.table, sorted(identities, key=str)
        states: dict[Any, State | None] = dict(table.fetch(wanted, Lock.SKIP)) if wanted else {}
        missing = [identity for identity in wanted if identity not in states]
        held = table.existing(missing) if missing else set()
        states |= {identity: None for identity in missing if identity not in held}
        return cls(component, clock.clock().now(), states)

    def accept(self, call: Call, entry: Entry, decision: Decision, reached: Reached | None = None) -> None:
        """Take what a call decided about its object. Raises OperationFault where the row would not fit its entity,
        Undone where only one by one each of the set has an outcome of its own."""
        identity = entry.draft["id"]
        system = clockwork(self.component, entry, decision.intentions, call, decision.now, reached)
        difference = difference_of(self.component, entry, system, decision.now)
        if difference is not None:
            if self._collisions.meets(difference.change):
                raise Undone
            if entry.origin is None:
                self._new.add(identity)
            self._note(identity, difference.change.state, difference.columns)
            self._changes.append((difference.change, call))
            self._reached.append(reached)
        elif entry.origin is not None:
            self.put(entry.origin, system)
        if decision.intentions.armed:
            self._armed.append((decision.intentions.armed, call, f"{self.component.locator}:{identity}"))

    def put(self, state: State, system: State) -> None:
        """Set system properties of an object, which changes nothing that people see."""
        if system:
            self._note(state["id"], {**state, **system}, system)

    def write(self) -> None:
        """Write all of it, in the open transaction. Raises what the database refuses."""
        table = self.component.table
        created = [state for identity in self._new if (state := self.states[identity]) is not None]
        if created and not table.insert_many(created):
            raise Undone  # somebody else made one of them first
        alike: dict[frozenset[str], list[State]] = {}
        for identity, columns in self._columns.items():
            state = self.states[identity]
            if identity not in self._new and state is not None:
                alike.setdefault(frozenset(columns), []).append(state)
        for names, states in alike.items():
            table.update_many(sorted(names), states)
        if self._changes:
            check_references(self.component)
            revise(self._changes, self._reached)
            deliver(self._changes)
        arming.store_all(self._armed, self.started)

    def _note(self, identity: Any, state: State, columns: Collection[str]) -> None:
        self.states[identity] = state
        self._columns.setdefault(identity, set()).update(columns)
