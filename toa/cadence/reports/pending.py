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
from toa.core.query import read_id
from toa.core.specs import PropertyType
from toa.exceptions import InvalidQuery
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
    """A part of the list, and where the next one begins and the one before ends; null where there is none."""

    deadlines: tuple[PendingDeadline, ...]
    after: str | None
    before: str | None = None


def pending(
    *,
    component: str | None = None,
    since: int | None = None,
    until: int | None = None,
    limit: int = 100,
    after: str | None = None,
    before: str | None = None,
) -> Page:
    """Instances by the moment at which they are looked at next, the earliest first.

    `component` names one; `since` and `until` (epoch ms) leave out what comes up to the one, and after the other;
    `after` is where the page before ended, `before` where the page after began. Each component gives a page by its two
    indexes, so a page costs the same however many wait. An instance that stopped at a failure is in neither: it waits
    for a person. Raises InvalidQuery for a mark of another list.
    """
    limit = min(limit, MOST)
    mark = after if before is None else before
    part = _Part(
        since=since,
        until=until,
        limit=limit + (before is not None),
        cursor=None if mark is None else decode_cursor(mark, ORDER),
        reverse=before is not None,
    )
    found: list[_Found] = []
    for one in components():
        if component is None or one.locator == component:
            found += [(at, one.locator, str(identity), one, identity) for at, identity in _of(one, part)]
    # Rows of one component are in order already, by its own order of ids.
    found.sort(key=lambda row: row[:2], reverse=part.reverse)
    shown = found[:limit]
    if part.reverse:
        if len(found) <= limit:
            return pending(component=component, since=since, until=until, limit=limit)  # the first page, a whole one
        shown.reverse()
    return Page(
        deadlines=tuple(_described(shown)),
        after=_mark(shown[-1]) if len(shown) == limit else None,
        before=_mark(shown[0]) if shown and mark is not None else None,
    )


def of_instance(component: str, id: str) -> PendingDeadline | None:
    """What is pending of one instance, stopped ones included; null where nothing is, or there is no such instance."""
    one = next((known for known in components() if known.locator == component), None)
    if one is None:
        return None
    try:
        identity = read_id(id, one.table.entity.id)
    except InvalidQuery:
        return None
    state = one.table.fetch([identity]).get(identity)
    if state is None or state["DELETED"] is not None:
        return None
    coming = earliest(state, one.spec.deadlines)
    at = state["HELD"] if state["HELD"] is not None else coming.moment if coming else None
    if at is None:
        return None
    return next(_described([(to_datetime(at), one.locator, str(identity), one, identity)]), None)


_Found = tuple[datetime, str, str, Component, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Which rows of each component are asked for."""

    since: int | None
    until: int | None
    limit: int
    cursor: Cursor | None
    reverse: bool


def _mark(row: _Found) -> str:
    return encode_cursor(ORDER, dict(zip(("at", "component", "id"), row[:3], strict=True)))


def _of(component: Component, part: _Part) -> list[tuple[datetime, Any]]:
    pieces: list[str] = []
    parameters: list[Any] = []
    down = " DESC" if part.reverse else ""
    for moment, condition, _ in looks(component):
        conditions = [f"{condition} AND {moment} IS NOT NULL"]
        given: list[Any] = []
        for sign, bound in ((">", part.since), ("<=", part.until)):
            if bound is not None:
                conditions.append(f"{moment} {sign} %s")
                given.append(to_datetime(bound))
        if part.cursor is not None:
            conditions.append(_beyond(component, moment, part.cursor, part.reverse))
            given += _place(component, part.cursor)
        pieces.append(
            f"(SELECT {moment} AS at, c.id FROM {table_of(component)} c WHERE {' AND '.join(conditions)}"
            f" ORDER BY {moment}{down}, c.id{down} LIMIT %s)"
        )
        parameters += [*given, part.limit]
    statement = f"SELECT d.at, d.id FROM ({' UNION ALL '.join(pieces)}) d ORDER BY d.at{down}, d.id{down} LIMIT %s"
    with connections[settings.alias()].cursor() as sql:
        sql.execute(statement, [*parameters, part.limit])
        return [(at, component.table.identity(identity)) for at, identity in sql.fetchall()]


def _beyond(component: Component, moment: str, cursor: Cursor, reverse: bool) -> str:
    """The rows of a component that come after a cursor, or before it: the component's name is the second key."""
    name = cursor.values[1]
    sign = "<" if reverse else ">"
    if component.locator == name:
        return f"({moment}, c.id) {sign} (%s, %s)"
    is_past = component.locator > name if reverse else component.locator < name
    return f"{moment} {sign}{'' if is_past else '='} %s"


def _place(component: Component, cursor: Cursor) -> list[Any]:
    at, name, identity = cursor.values
    return [at, identity] if component.locator == name else [at]


def _described(rows: Sequence[_Found]) -> Iterator[PendingDeadline]:
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
