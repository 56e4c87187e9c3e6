"""The pulses and schedules of a component as one object of it sees them: do they call it, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toa.cadence.explaining.facts import Rhythm
from toa.cadence.pulses.boundaries import grid_of
from toa.cadence.schedules.calendars import recurrence_of
from toa.core.clock import to_moment
from toa.core.criteria import Node, matches, to_text
from toa.core.query import Query, parse_query
from toa.core.specs import EntitySpec, PropertyType, PulseScope
from toa.exceptions import InvalidQuery, InvalidSchedule, InvalidZone
from toa.models import Pulse, Schedule
from toa.runtime import settings
from toa.runtime.bindings import Component
from toa.runtime.table import State


def rhythms(component: Component, state: State | None, now: int) -> Iterator[Rhythm]:
    """Every pulse and schedule of the component that is not retired. `state` is null for an object that is not."""
    endpoints = [operation.endpoint for operation in component.operations.values()]
    for kind, model in (("pulse", Pulse), ("schedule", Schedule)):
        rows: Any = model._default_manager.using(settings.alias())
        for row in rows.filter(endpoint__in=endpoints, retired_at=None).order_by("endpoint", "name"):
            yield _rhythm(kind, row, component, state, now)


def _rhythm(kind: str, row: Pulse | Schedule, component: Component, state: State | None, now: int) -> Rhythm:
    asked = _asked(row, component)
    fits = asked is not None and state is not None and _fits(asked, state, now)
    later = None
    if asked is not None and state is not None and not fits and component.spec.entity is not None:
        later = _fits_from(asked, state, now, component.spec.entity)
    criteria = asked.criteria if asked is not None else None
    return Rhythm(
        kind=kind,
        endpoint=row.endpoint,
        name=row.name,
        criteria="" if criteria is None else to_text(criteria),
        declared=row.query is not None,
        fits=fits,
        fits_from=later,
        next=None if row.paused_at is not None else _next(row, now, later),
        paused=None if row.paused_at is None else to_moment(row.paused_at),
        paused_by=row.paused_by,
    )


def _asked(row: Pulse | Schedule, component: Component) -> Query | None:
    """Whom a declared sweep calls; null for one that selects in code, or that this code cannot read."""
    if row.query is None or component.spec.entity is None:
        return None
    try:
        return parse_query(row.query, component.spec.entity, allow_now=True)
    except InvalidQuery:
        return None


def _fits(asked: Query, state: State, at: int) -> bool:
    if state["DELETED"] is not None:
        return False
    named = (asked.id is None or asked.id == state["id"]) and (asked.ids is None or state["id"] in asked.ids)
    criteria: Node | None = asked.criteria
    return named and (criteria is None or matches(criteria, state, at))


def _fits_from(asked: Query, state: State, now: int, entity: EntitySpec) -> int | None:
    """When the state as it is will fit, because one of its moments has passed by then."""
    names = [name for name, one in entity.selectable().items() if one.type is PropertyType.MOMENT]
    ahead = sorted(state[name] for name in names if state[name] is not None and state[name] >= now)
    return next((at for value in ahead for at in (value, value + 1) if _fits(asked, state, at)), None)


def _next(row: Pulse | Schedule, now: int, later: int | None) -> int | None:
    """The next boundary or occurrence, or the first from a later moment on."""
    if isinstance(row, Pulse):
        if row.scope == PulseScope.GROUP and row.wake_at is not None and row.token is None and later is None:
            return to_moment(row.wake_at)
        return grid_of(row).next_after(now if later is None else later - 1)
    if later is None:
        return None if row.due_at is None else to_moment(row.due_at)
    try:
        return recurrence_of(row).next_after(later - 1)
    except (InvalidSchedule, InvalidZone):
        return None
