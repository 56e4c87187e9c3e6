"""Writing what a call decided: rows, deliveries, stored calls. All in the open transaction, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, connections

from toa.core import draft as drafts
from toa.core.calling import Call, Intentions, Lease
from toa.core.deadlines import CLOSED, TIMEOUT, Reached
from toa.core.draft import Draft
from toa.exceptions import Conflict, InvalidInput, LeaseLost, OperationFault
from toa.models import Outcome
from toa.runtime import arming, settings
from toa.runtime.bindings import Component, Operation
from toa.runtime.events import Change, deliver
from toa.runtime.journal import write_history
from toa.runtime.revising import revise
from toa.runtime.sending import run, together
from toa.runtime.table import Lock, State
from toa.runtime.withdrawing import move_ids, taken, withdraw_ids

OWN_TABLES = "toa_"
"""How the names of toa's own tables begin."""


class LostCreationRace(Exception):
    """Somebody else made the row first; the call runs again on what they made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row on its way through a call: what it was, and the draft that the function worked on."""

    origin: State | None
    """Null where there is no row yet."""
    draft: Draft
    create: bool = False
    """Insert even where the function changed nothing: a transition without a query."""


def write(
    operation: Operation,
    entries: Sequence[Entry],
    intentions: Intentions,
    call: Call,
    now: int,
    lock: Lock,
    reached: Reached | None = None,
) -> list[Change]:
    """Write the differences; returns the changes that were made.

    A row that did not change keeps its VERSION and raises no event. Raises Conflict where a unique rule is broken,
    OperationFault where a row does not fit its entity, Busy where `lock` is SKIP and a stored call that is to be
    taken back is held. Within `together` what the database refuses is known at the end of that: see `explained`.
    """
    component = operation.component
    entity = f"{component.locator}:{entries[0].draft['id']}" if len(entries) == 1 else component.locator
    # First of all: with SKIP this may find a row held, and nothing may be written by then.
    _withdraw(intentions, entity, now, lock)
    made: list[Change] = []
    try:
        with together():
            for entry in entries:
                change = _write_row(component, entry, clockwork(component, entry, intentions, call, now, reached), now)
                if change is not None:
                    made.append(change)
            if made:
                check_references(component)
                credited = [(change, call) for change in made]
                revise(credited, [reached] * len(credited))
                deliver(credited)
            arming.store(intentions.armed, call, entity, now)
    except IntegrityError as error:
        raise explained(component, error) from error
    if call.lease is not None:
        check_lease(call.lease)
    return made


def _withdraw(intentions: Intentions, entity: str, now: int, lock: Lock) -> None:
    if not intentions:
        return
    settled = [taken(row, Outcome.CANCELLED, now) for row in withdraw_ids(intentions.cancelled, lock)]
    if lock is Lock.SKIP:
        settled += [taken(row, Outcome.REPLACED, now) for row in arming.take_named(intentions.armed, entity)]
    write_history(settled)
    move_ids(intentions.moved, now, lock)


def check_lease(lease: Lease) -> None:
    """Hold the caller's lease until commit; raises LeaseLost where it was withdrawn or has passed to another run."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {lease.table} WHERE id = %s AND token = %s FOR SHARE", [lease.id, lease.token])
        if cursor.fetchone() is None:
            raise LeaseLost("the lease of the calling effect is gone: it lapsed or was withdrawn")


def clockwork(
    component: Component, entry: Entry, intentions: Intentions, call: Call, now: int, reached: Reached | None
) -> State:
    """What the call makes of the system properties of a component with deadlines."""
    written: State = {}
    if entry.origin is None:
        timeout = component.spec.deadlines.get(TIMEOUT)
        if timeout is not None and timeout.lifetime_ms is not None:
            written["TIMEOUT"] = (now if call.base is None else call.base) + timeout.lifetime_ms
    elif reached is not None and (entry.origin["HELD"], entry.origin["CLOCK"]) != (None, None):
        written |= {"HELD": None, "CLOCK": None}
    if intentions.closed or (reached is not None and reached.property == TIMEOUT):
        written |= {"STATE": CLOSED, "HELD": None}
    return written


def _write_row(component: Component, entry: Entry, clockwork: State, now: int) -> Change | None:
    table = component.table
    difference = difference_of(component, entry, clockwork, now)
    if difference is None:
        if clockwork and entry.origin is not None:
            # Neither VERSION nor an event: nothing that people see has changed.
            table.update(entry.origin["id"], clockwork)
        return None
    if entry.origin is None:
        if not table.insert(difference.change.state):
            raise LostCreationRace
    else:
        state = difference.change.state
        table.update(state["id"], {name: state[name] for name in difference.columns})
    return difference.change


@dataclass(frozen=True, slots=True)
class Difference:
    """What a call makes of a row: the change, and the properties that it writes."""

    change: Change
    columns: tuple[str, ...]


def difference_of(component: Component, entry: Entry, clockwork: State, now: int) -> Difference | None:
    """The difference between a row and its draft, checked against the entity; null where there is none. Writes nothing.

    Raises OperationFault where the row would not fit.
    """
    changed = drafts.changes(entry.draft)
    before = entry.origin
    if not changed and not (entry.create and before is None):
        return None
    state: State = {**drafts.state(entry.draft), "UPDATED": now, "VERSION": (before["VERSION"] if before else 0) + 1}
    state.update(clockwork)
    if before is None:
        state["CREATED"] = now
    state.update(_checked(component, state))
    columns = tuple(state) if before is None else (*changed, *clockwork, "UPDATED", "VERSION")
    return Difference(Change(component=component, origin=before, state=state), columns)


def _checked(component: Component, state: State) -> State:
    declared = {name: state[name] for name in component.table.writable if state[name] is not None}
    try:
        checked: State = component.entity_checker.check(declared)
    except InvalidInput as problem:
        raise OperationFault(
            f"{component.locator}: the row {state['id']} would not fit its entity: {problem}"
        ) from problem
    return checked


def check_references(component: Component) -> None:
    """Have the database check foreign keys now, where the component has any."""
    if not any(spec.ref for spec in component.table.properties.values()):
        return
    # Django's foreign keys are checked at COMMIT, where one bad row would take everything else with it.
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run("SET CONSTRAINTS ALL DEFERRED")


def explained(component: Component, error: IntegrityError) -> Exception:
    """A refusal of the database as a Conflict of the component, where it is one; else the error itself."""
    diagnosis = getattr(error.__cause__, "diag", None)
    if (getattr(diagnosis, "table_name", None) or "").startswith(OWN_TABLES):
        return error
    constraint = getattr(diagnosis, "constraint_name", None) or ""
    prefix, suffix = f"{component.spec.label}_", "_unique"
    if constraint.startswith(prefix) and constraint.endswith(suffix):
        rule = constraint[len(prefix) : -len(suffix)]
        return Conflict(f"{component.locator}: another object has the same value of unique rule {rule!r}")
    return Conflict(f"{component.locator}: the database refused the row ({constraint or 'a constraint'})")
