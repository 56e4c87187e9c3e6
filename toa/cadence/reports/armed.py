"""Delays and sends that are still to be made, as an operator looks at them: by pages, or one by its id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from toa.cadence.calls import endpoints
from toa.cadence.calls.due import DELAYS
from toa.cadence.reports.backlog import waits
from toa.cadence.reports.marks import mark, read_mark
from toa.core.clock import to_moment
from toa.exceptions import InvalidQuery
from toa.models import Delay, Failure, History
from toa.runtime import clock, settings

PAGE = 100
"""Calls on a page, unless asked otherwise."""
MOST = 1_000
"""Calls on a page at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some stored calls, in the order in which they are looked at next."""

    calls: tuple[Delay, ...]
    after: str | None
    """The mark where the next page begins; null where there is none."""
    now: int
    """When it was read, epoch ms."""


def page(
    *,
    endpoint: str | None = None,
    entity: str | None = None,
    overdue: bool = False,
    within_ms: int | None = None,
    limit: int = PAGE,
    after: str | None = None,
) -> Page:
    """Stored calls in order of time, at most `limit` of them (1 to 1000).

    Of one endpoint, of one entity (`component:id`), those that are due and not being made (`overdue`), or those that
    are looked at within a duration from now. `after` is the mark of the page before. Raises InvalidQuery.
    """
    if not 1 <= limit <= MOST:
        raise InvalidQuery(f"a page has 1 to {MOST} calls, not {limit}")
    now = clock.clock().expression()
    conditions: list[str] = []
    parameters: list[Any] = []
    if overdue:
        conditions.append(waits(now))
    if within_ms is not None:
        conditions.append(f"c.wake_at <= {now} + %s * interval '1 millisecond'")
        parameters.append(within_ms)
    if after is not None:
        conditions.append("(c.wake_at, c.id) > (%s, %s)")
        parameters += read_mark(after)
    if entity is not None:
        rows, given = _of_entity(entity, endpoint, conditions, parameters, limit + 1)
    else:
        names = [endpoint] if endpoint is not None else endpoints.stored(DELAYS.kind)
        rows, given = _of_endpoints(names, conditions, parameters, limit + 1)
    found = list(Delay.objects.using(settings.alias()).raw(rows, given))
    shown = tuple(found[:limit])
    last = shown[-1] if len(found) > limit else None
    after = mark(last.wake_at, last.id) if last is not None and last.wake_at is not None else None
    return Page(calls=shown, after=after, now=clock.clock().now())


def find(identity: UUID) -> Delay | None:
    """The stored call of that id, while it is still to be made."""
    return Delay.objects.using(settings.alias()).filter(id=identity).first()


def history(identity: UUID) -> list[History]:
    """What became of a call, oldest line first: one line for each time it was settled."""
    return list(History.objects.using(settings.alias()).filter(call=identity).order_by("at", "id"))


def failure(identity: UUID) -> Failure | None:
    """The failure of a call that waits for a decision."""
    return Failure.objects.using(settings.alias()).filter(call=identity).first()


def state(call: Delay, now: int) -> str:
    """What a stored call does at a moment (epoch ms): waiting, due, running, retrying, or lapsed after its process
    died."""
    wake = to_moment(call.wake_at or call.due_at)
    if call.token is not None:
        return "running" if wake > now else "lapsed"
    if to_moment(call.due_at) > now:
        return "waiting"
    return "retrying" if call.attempt and wake > now else "due"


def _of_endpoints(names: list[str], conditions: list[str], parameters: list[Any], limit: int) -> tuple[str, list[Any]]:
    """The calls of each endpoint come in order from its own part of the index, and are merged."""
    of_each = (
        f"SELECT c.* FROM toa_delay c WHERE {' AND '.join(['c.endpoint = e.endpoint', *conditions])}"
        " ORDER BY c.wake_at, c.id LIMIT %s"
    )
    sql = (
        f"SELECT d.* FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL ({of_each}) d"
        " ORDER BY d.wake_at, d.id LIMIT %s"
    )
    return sql, [names, *parameters, limit, limit]


def _of_entity(
    entity: str, endpoint: str | None, conditions: list[str], parameters: list[Any], limit: int
) -> tuple[str, list[Any]]:
    """The calls that one entity armed are few."""
    wanted = ["c.entity = %s"] if endpoint is None else ["c.entity = %s", "c.endpoint = %s"]
    names = [entity] if endpoint is None else [entity, endpoint]
    sql = f"SELECT c.* FROM toa_delay c WHERE {' AND '.join([*wanted, *conditions])} ORDER BY c.wake_at, c.id LIMIT %s"
    return sql, [*names, *parameters, limit]
