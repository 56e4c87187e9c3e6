"""Why something will, did or did not happen to one object: the facts, gathered by bounded queries over indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toa.cadence import processes
from toa.cadence.calls.due import endpoints_of
from toa.cadence.explaining.acting import acting
from toa.cadence.explaining.facts import SHOWN, Alive, Commit, Facts, Held, Line, Moment, Stopped
from toa.cadence.explaining.outstanding import armed_calls, deliveries
from toa.cadence.explaining.rhythms import rhythms
from toa.core.clock import to_moment
from toa.core.deadlines import DRAINING, TIMEOUT, stored_in
from toa.core.query import read_id
from toa.core.specs import OperationType, PropertyType
from toa.exceptions import InvalidQuery
from toa.manifests import registry
from toa.models import Failure, History, Outcome, Revision
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Component
from toa.runtime.starting import run_id
from toa.runtime.table import State

COMMITS = 200
"""How many commits of the object's history are looked at."""


def explain(locator: str, identity: str) -> Facts:
    """What is known about an object of a component, by its id as text.

    Raises UnknownEndpoint for a component that does not exist, InvalidQuery for one without objects or an id that
    cannot be one. An object that does not exist is a fact like any other.
    """
    component = bindings.component(locator)
    spec = component.spec
    if spec.entity is None:
        raise InvalidQuery(f"{locator} has no objects: it is stateless")
    key = read_id(identity, spec.entity.id)
    now = clock.clock().now()
    state = component.table.fetch([key]).get(key)
    commits = _commits(component, str(key))
    seen = state if state is not None else component.table.blank(key)
    armed, cut = armed_calls(component, str(key))
    lines = lines_of(f"{component.locator}:{key}")
    return Facts(
        component=locator,
        id=str(key),
        now=now,
        found=state is not None,
        version=seen["VERSION"],
        updated=seen["UPDATED"],
        deleted=seen["DELETED"],
        timed=bool(spec.deadlines),
        state=seen.get("STATE"),
        held=_held(seen),
        moments=tuple(_moments(component, seen, commits)),
        commits=tuple(one for one in commits if one.changes or one.reached)[:SHOWN],
        stopped=_stopped(component, str(key)),
        deliveries=deliveries(component, str(key)),
        armed=armed,
        armed_cut=cut,
        rhythms=tuple(rhythms(component, seen if state is not None else None, now)),
        lines=lines,
        runs=acting(commits, lines),
        related=tuple(_related(component, key)),
        alive=alive(),
    )


def alive() -> Alive:
    """Which processes do what comes due."""
    kinds = ("beat", "worker", "run", "tick")
    beats, workers, runners, ticks = (len(processes.alive(kind)) for kind in kinds)
    return Alive(beats=beats, workers=workers, runners=runners, ticked=bool(ticks))


def _timed_properties(component: Component) -> dict[str, str | None]:
    """The properties that hold moments, and the transition of those that are deadlines."""
    spec = component.spec
    assert spec.entity is not None
    deadlines = {name: spec.endpoint(one.transition) for name, one in spec.deadlines.items()}
    plain = [
        name
        for name, one in spec.entity.properties.items()
        if one.type is PropertyType.MOMENT and name not in deadlines
    ]
    return {**deadlines, **dict.fromkeys(plain)}


def _moments(component: Component, state: State, commits: list[Commit]) -> Iterator[Moment]:
    for name, transition in _timed_properties(component).items():
        value = state.get(stored_in(name))
        last = next((one for one in commits if name in one.changes), None)
        yield Moment(
            property=name,
            value=value,
            transition=transition,
            last=last,
            # The time-out is set by toa itself, and is in no revision.
            outside=name != TIMEOUT and last is not None and last.changes[name][1] != value,
        )


def _commits(component: Component, identity: str) -> list[Commit]:
    names = _timed_properties(component)
    rows = Revision.objects.using(settings.alias()).filter(component=component.locator, entity=identity)
    return [
        Commit(
            version=row.version,
            at=to_moment(row.at),
            endpoint=row.endpoint,
            by=called_by(row.cause or {}),
            changes={name: change for name, change in row.changes.items() if name in names},
            reached=row.reached,
            outside=row.outside,
            run=run_of(row.cause or {}),
        )
        for row in rows.order_by("-version")[:COMMITS]
    ]


def run_of(cause: dict[str, Any]) -> str:
    """The run whose step something was, by its cause: an id, or empty."""
    return str(cause["run"]) if "run" in cause and "source" not in cause else ""


def called_by(cause: dict[str, Any]) -> str:
    """What called an operation, from the cause that its revision keeps."""
    if run := run_of(cause):
        return f"a step of the run {run} of {cause['endpoint']}"
    match cause.get("source"):
        case "deadline":
            return f"the deadline {cause.get('deadline')}"
        case "delivery":
            return f"an event of {cause.get('entity', 'another object')}, which {cause.get('endpoint')} raised"
        case str(source):
            return f"a {source} of {cause['endpoint']}" if cause.get("endpoint") else f"a {source}"
        case _:
            return str(cause.get("caller") or "a direct call")


def _held(state: State) -> Held | None:
    if state.get("HELD") is None:
        return None
    kept = state["CLOCK"] or {}
    if state["STATE"] == DRAINING:
        why = "it is being brought up to date after a retry"
    elif "error" in kept:
        why = f"{kept['property']} is tried again after attempt {kept['attempts']}: {kept['error']}"
    else:
        why = "its deadline waits for events that happened before it"
    return Held(until=state["HELD"], why=why)


def _stopped(component: Component, identity: str) -> tuple[Stopped, ...]:
    rows = Failure.objects.using(settings.alias()).filter(entity=f"{component.locator}:{identity}")
    return tuple(
        Stopped(
            id=row.id.hex,
            source=row.source,
            endpoint=row.endpoint,
            error=row.error,
            attempts=row.attempts,
            at=to_moment(row.at),
            property=row.row.get("property", ""),
        )
        for row in rows.order_by("at")[:SHOWN]
    )


def lines_of(entity: str) -> tuple[Line, ...]:
    """The last lines of the history about whom they concerned: `component:id`, or `run:id`; the newest first."""
    rows = History.objects.using(settings.alias()).filter(entity=entity).order_by("-at")[:SHOWN]
    workflows = set(endpoints_of(OperationType.WORKFLOW))
    return tuple(line_of(row, starts=row.endpoint in workflows and row.outcome == Outcome.MADE) for row in rows)


def line_of(row: History, *, starts: bool = False) -> Line:
    """A line of the history; `starts` says that it is of a call that started a run."""
    return Line(
        call=row.call.hex,
        source=row.source,
        endpoint=row.endpoint,
        outcome=row.outcome,
        code=row.code,
        due=to_moment(row.due_at),
        at=to_moment(row.at),
        by=str((row.cause or {}).get("endpoint") or ""),
        # The run of a call has the call's id for its key.
        started=run_id(row.endpoint, row.call.hex).hex if starts else "",
    )


def _related(component: Component, key: Any) -> Iterator[str]:
    """Components whose objects exist by virtue of this one's id, and that have one of it."""
    assert component.spec.entity is not None
    for spec in registry.all().values():
        if spec.entity is None or not spec.entity.associated or spec.locator == component.locator:
            continue
        listens = any(one.event.rpartition(".")[0] == component.locator for one in spec.receivers)
        alike = spec.entity.id.type is component.spec.entity.id.type
        if listens and alike and bindings.component(spec.locator).table.fetch([key]):
            yield spec.locator
