"""How much waits to be made: counts of stored calls, each bounded, so that asking costs the same on a bad day.

What waits is one condition, shared by counts and listings: `WAITS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from django.db import connections

from toa.cadence.calls.live import Kind
from toa.cadence.source import BACKSTOP_MS
from toa.core.clock import to_moment
from toa.core.duration import HOUR_MS
from toa.runtime import clock, settings

CEILING = 1_000
"""Where counting ends."""
LOOKED_THROUGH = 1_000
"""Deliveries of one endpoint that are looked through for the first that only waits for its turn."""

_HOUR = f"interval '{HOUR_MS} milliseconds'"
_DUE = "(c.due_at + interval '0')"
# What follows a parked delivery is parked too, but its row is only moved there when somebody comes across it.
_BEHIND = (
    "(SELECT b.wake_at IS NULL FROM toa_delivery b WHERE b.source = c.source AND b.source_id = c.source_id"
    " AND b.receiver = c.receiver ORDER BY b.version, b.position LIMIT 1)"
)


@dataclass(frozen=True, slots=True)
class Count:
    """A number, exact up to `CEILING`; `more` says that there are more than that."""

    number: int
    more: bool = False

    def __str__(self) -> str:
        return f"{self.number:,}{'+' if self.more else ''}"

    def __bool__(self) -> bool:
        return self.number > 0

    def __add__(self, other: Count) -> Count:
        return Count(self.number + other.number, self.more or other.more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The calls of one table, for the endpoints that were asked about."""

    waiting: Count
    """Due, and not being made."""
    oldest: int | None
    """Since when the oldest of them waits, epoch ms; after a failed try, since its next one was due."""
    running: Count
    """Being made under a lease."""
    within_hour: Count
    """Due in the next hour."""
    parked: Count
    """Held back until somebody decides about a failure."""


@runtime_checkable
class Counted(Protocol):
    """A source that counts what waits in its own way."""

    name: str

    def backlog(self) -> Backlog:
        """Its calls by what they wait for."""
        ...


def waits(now: str) -> str:
    """Condition as SQL on a row `c`: its moment has come and nobody is making it. `now` is SQL for the moment.

    A leased call that was handed to the workers is looked at again a second later: it waits all the same. The index by
    `due_at` is kept out: the planner would collect all of a backlog from it before the first row is counted.
    """
    return (
        f"c.wake_at <= {now} + interval '{BACKSTOP_MS} milliseconds' AND {_DUE} <= {now}"
        f" AND (c.token IS NULL OR c.wake_at <= {now})"
    )


def backlog(kind: Kind, endpoints: Sequence[str]) -> Backlog:
    """Count the calls of these endpoints by what they wait for."""
    now = clock.clock().expression()
    names = list(endpoints)
    due = of_each(kind, waits(now))
    behind = Count(0)
    if kind.parks:
        behind = count(f"SELECT 1 FROM ({due} LIMIT {CEILING + 1}) AS c WHERE {_BEHIND}", [names])
    return Backlog(
        waiting=_without(count(due, [names]), behind),
        oldest=_oldest(kind, names),
        running=count(of_each(kind, f"c.token IS NOT NULL AND c.wake_at > {now}"), [names]),
        within_hour=count(
            of_each(kind, f"c.wake_at > {now} AND c.wake_at <= {now} + {_HOUR} AND {_DUE} > {now}"), [names]
        ),
        parked=count(of_each(kind, "c.wake_at IS NULL"), [names]) + behind,
    )


def count(rows: str, parameters: Sequence[Any]) -> Count:
    """Count the rows that a query gives, up to the ceiling."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({rows} LIMIT {CEILING + 1}) AS counted", parameters)
        number = int(cursor.fetchone()[0])
    return Count(min(number, CEILING), number > CEILING)


def _without(every: Count, some: Count) -> Count:
    return Count(max(0, every.number - some.number), every.more)


def of_each(kind: Kind, condition: str) -> str:
    """Rows of the endpoints, each endpoint's part found by itself through the claiming index."""
    return (
        f"SELECT one.* FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (SELECT * FROM {kind.table} c"
        f" WHERE c.endpoint = e.endpoint AND {condition} ORDER BY c.wake_at, c.id LIMIT {CEILING + 1}) AS one"
    )


def _oldest(kind: Kind, endpoints: list[str]) -> int | None:
    """The first of each endpoint decides; where some only seem to wait, the first of a thousand that does."""
    look, held = (f"LIMIT {LOOKED_THROUGH}", f"WHERE NOT {_BEHIND}") if kind.parks else ("LIMIT 1", "")
    sql = (
        "SELECT min(CASE WHEN c.attempt > 0 THEN c.wake_at ELSE greatest(c.due_at, c.created_at) END)"
        f" FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (SELECT * FROM {kind.table} c"
        f" WHERE c.endpoint = e.endpoint AND {waits(clock.clock().expression())}"
        f" ORDER BY c.wake_at, c.id {look}) AS c {held}"
    )
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, [endpoints])
        moment = cursor.fetchone()[0]
    return None if moment is None else to_moment(moment)
