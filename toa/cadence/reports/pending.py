"""Every pending deadline of every component, in order of time, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections

from toa.cadence.deadlines.due import components, looks, table_of
from toa.core.clock import to_datetime, to_moment
from toa.core.cursor import Cursor, SortKey, decode_cursor, encode_cursor
from toa.core.deadlines import earliest
from toa.core.specs import PropertyType
from toa.runtime import clock, settings
from toa.runtime.bindings import Component

ORDER: Sequence[SortKey] = (
    SortKey(name="at", type=PropertyType.MOMENT),
    SortKey(name="component", type=PropertyType.STRING),
    SortKey(name="id", type=PropertyType.STRING),
)
MOST = 1_000
"""The longest page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingDeadline:
    """The next of one instance. Moments are epoch ms."""

    component: str
    id: str
    property: str
    """Empty where nothing but the end of a wait is pending."""
    moment: int | None
    """The moment of the deadline."""
    at: int
    """When the instance is looked at: that moment, or, while it is held, the end of that."""
    held: bool
    state: str | None
    late_ms: int
    """How long ago the deadline's moment was; 0 where it has not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of the list, and where the next one begins; null where there is none."""

    deadlines: tuple[PendingDeadline, ...]
    after: str | None


def pending(
    *, component: str | None = None, until: int | None = None, limit: int = 100, after: str | None = None
) -> Page:
    """Instances by the moment at which they are looked at next, the earliest first.

    `component` names one; `until` (epoch ms) leaves out what comes later; `after` is where the page before ended.
    Each component gives a page by its two indexes, so a page costs the same however many wait. An instance that
    stopped at a failure is in neither: it waits for a person. Raises InvalidQuery for an `after` of another list.
    """
    limit = min(limit, MOST)
    cursor = None if after is None else decode_cursor(after, ORDER)
    found: list[tuple[datetime, str, str, Component, Any]] = []
    for one in components():
        if component is None or one.locator == component:
            rows = _of(one, until, limit, cursor)
            found += [(at, one.locator, str(identity), one, identity) for at, identity in rows]
    # Rows of one component are in order already, by its own order of ids.
    found.sort(key=lambda row: row[:2])
    shown = found[:limit]
    last = dict(zip(("at", "component", "id"), shown[-1][:3], strict=True)) if shown else {}
    return Page(deadlines=tuple(_described(shown)), after=encode_cursor(ORDER, last) if len(shown) == limit else None)


def _of(component: Component, until: int | None, limit: int, cursor: Cursor | None) -> list[tuple[datetime, Any]]:
    parts: list[str] = []
    parameters: list[Any] = []
    for moment, condition, order in looks(component):
        conditions = [f"{condition} AND {moment} IS NOT NULL"]
        given: list[Any] = []
        if until is not None:
            conditions.append(f"{moment} <= %s")
            given.append(to_datetime(until))
        if cursor is not None:
            conditions.append(_behind(component, moment, cursor))
            given += _place(component, cursor)
        parts.append(
            f"(SELECT {moment} AS at, c.id FROM {table_of(component)} c WHERE {' AND '.join(conditions)}"
            f" ORDER BY {order} LIMIT %s)"
        )
        parameters += [*given, limit]
    statement = f"SELECT d.at, d.id FROM ({' UNION ALL '.join(parts)}) d ORDER BY d.at, d.id LIMIT %s"
    with connections[settings.alias()].cursor() as sql:
        sql.execute(statement, [*parameters, limit])
        return [(at, component.table.identity(identity)) for at, identity in sql.fetchall()]


def _behind(component: Component, moment: str, cursor: Cursor) -> str:
    """The rows of a component that come after a cursor: the component's name is the second key."""
    name = cursor.values[1]
    if component.locator == name:
        return f"({moment}, c.id) > (%s, %s)"
    return f"{moment} {'>' if component.locator < name else '>='} %s"


def _place(component: Component, cursor: Cursor) -> list[Any]:
    at, name, identity = cursor.values
    return [at, identity] if component.locator == name else [at]


def _described(rows: Sequence[tuple[datetime, str, str, Component, Any]]) -> Iterator[PendingDeadline]:
    now = clock.clock().now()
    states: dict[str, dict[Any, Any]] = {}
    for component in {row[1]: row[3] for row in rows}.values():
        mine = [row[4] for row in rows if row[1] == component.locator]
        states[component.locator] = component.table.fetch(mine)
    for at, locator, identity, component, key in rows:
        state = states[locator].get(key)
        if state is None:
            continue
        coming = earliest(state, component.spec.deadlines)
        yield PendingDeadline(
            component=locator,
            id=identity,
            property=coming.property if coming else "",
            moment=coming.moment if coming else None,
            at=to_moment(at),
            held=state["HELD"] is not None,
            state=state["STATE"],
            late_ms=max(0, now - coming.moment) if coming else 0,
        )
