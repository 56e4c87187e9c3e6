"""Reading rows: one by id, or a set by criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from toa.core.clock import to_datetime
from toa.core.criteria import matches
from toa.core.query import Query
from toa.exceptions import NotFound, PreconditionFailed
from toa.models import Entity
from toa.models.lookups import apply
from toa.runtime import clock, settings
from toa.runtime.bindings import Component
from toa.runtime.table import State


def select_one(component: Component, query: Query) -> State | None:
    """The object of the query's id, or null where there is none; the blank of an associated one."""
    table = component.table
    state = table.fetch([query.id]).get(query.id)
    if state is None and table.entity.associated:
        state = table.blank(query.id)
    if state is None or (state["DELETED"] is not None and not query.deleted):
        return None
    # Criteria first: the version of an object that they hide is nobody's business.
    if query.criteria is not None and not matches(query.criteria, state, clock.clock().now()):
        return None
    if query.version is not None and state["VERSION"] != query.version:
        raise PreconditionFailed(
            f"{component.locator} {query.id} is at version {state['VERSION']}, not {query.version}"
        )
    return state


def select_many(component: Component, query: Query) -> list[State]:
    """The objects of the query, in its order. One statement."""
    table = component.table
    return [table.state(row) for row in _rows(component, query).values_list(*table.attnames)]


def select_ids(component: Component, query: Query) -> list[Any]:
    """The ids of the query's objects, in its order. One statement."""
    if query.id is not None:
        return [query.id]
    name = component.table.properties["id"].attname
    read = component.table.identity
    return [read(value) for value in _rows(component, query).values_list(name, flat=True)]


def project(states: list[State], projection: tuple[str, ...] | None) -> list[State]:
    """The states with only the named properties, the id always among them."""
    if projection is None:
        return states
    names = ("id", *(name for name in projection if name != "id"))
    return [{name: state[name] for name in names} for state in states]


def required(component: Component, state: Mapping[str, Any] | None, query: Query) -> Mapping[str, Any]:
    """The state, or NotFound."""
    if state is None:
        raise NotFound(f"{component.locator} has no {query.id}")
    return state


def _rows(component: Component, query: Query) -> QuerySet[Entity]:
    rows: QuerySet[Entity] = component.table.model._default_manager.using(settings.alias()).all()
    return apply(query, rows, component.table.entity, to_datetime(clock.clock().now()))
