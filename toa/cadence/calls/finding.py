"""Finding stored calls without locking them: what is due, what comes next, what somebody else works on.

A call is found by its endpoint's part of one index, so that neither a backlog nor endpoints that this code does not
know are walked over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.stored import Live, Stored
from toa.core.clock import to_datetime, to_moment
from toa.runtime import clock, settings
from toa.runtime.sql import array


class Finding(Stored):
    """Looks at one table of stored calls."""

    def horizon(self, endpoints: list[str], since: int | None) -> tuple[str, list[Any]]:
        """Oldest due, newest due and next coming `wake_at` of these endpoints, as SQL with parameters."""
        now = clock.clock().expression()
        of = f"SELECT c.wake_at FROM {self.table} c WHERE c.endpoint = e.endpoint AND c.wake_at"
        sql = (
            f"SELECT min(h.due) AS due, max(h.newest) AS newest, min(h.coming) AS coming"
            f" FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (SELECT"
            f" ({of} <= {now} {from_moment(since)} {self.heads} ORDER BY c.wake_at, c.id LIMIT 1) AS due,"
            f" ({of} <= {now} ORDER BY c.wake_at DESC, c.id DESC LIMIT 1) AS newest,"
            f" ({of} > {now} ORDER BY c.wake_at, c.id LIMIT 1) AS coming) h"
        )
        return sql, [endpoints]

    def due(
        self,
        endpoints: Sequence[str],
        quota: int,
        since: int | None,
        *,
        after: Mapping[str, Live] | None = None,
        without: str | None = None,
    ) -> list[Live]:
        """What is due, oldest first, at most `quota` for each endpoint, whether or not it has to wait behind something.
        Locks nothing.

        `after` gives calls, by endpoint, behind which to go on: for all endpoints, or for none. `without` are ids that
        are left out, as the text of an array.
        """
        places, more = "unnest(%s::text[]) AS e(endpoint)", ""
        parameters: list[Any] = [list(endpoints)]
        if after:
            places = "unnest(%s::text[], %s::timestamptz[], %s::uuid[]) AS e(endpoint, wake_at, id)"
            more = "AND (c.wake_at, c.id) > (e.wake_at, e.id)"
            parameters.append([to_datetime(after[endpoint].wake) for endpoint in endpoints])
            parameters.append([after[endpoint].id for endpoint in endpoints])
        if without is not None:
            more += " AND c.id <> ALL(%s::uuid[])"
            parameters.append(without)
        now = clock.clock().expression()
        sql = (
            f"SELECT {self.columns_of('d')}"
            f" FROM {places} CROSS JOIN LATERAL"
            f" (SELECT {self.columns} FROM {self.table} c"
            f" WHERE c.endpoint = e.endpoint AND c.wake_at <= {now} {from_moment(since)} {more}"
            f" ORDER BY c.wake_at, c.id LIMIT %s) d ORDER BY d.wake_at, d.id"
        )
        return self.read(sql, [*parameters, quota])

    def abandoned(self, endpoints: Sequence[str], named: str, quota: int) -> list[Live]:
        """Of the calls with these ids, given as the text of an array, those that are due and held by nobody, oldest
        first. Their rows are locked for a moment to find that out."""
        sql = (
            f"SELECT {self.columns_of('c')} FROM {self.table} c WHERE c.id = ANY(%s::uuid[]) AND c.endpoint = ANY(%s)"
            f" AND c.wake_at <= {clock.clock().expression()} ORDER BY c.wake_at, c.id LIMIT %s FOR UPDATE SKIP LOCKED"
        )
        return self.read(sql, [named, list(endpoints), quota])

    def oldest(self, named: str) -> int | None:
        """When the first of the calls with these ids woke, or will wake; epoch ms."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"SELECT min(c.wake_at) FROM {self.table} c WHERE c.id = ANY(%s::uuid[])", [named])
            (moment,) = cursor.fetchone()
            return None if moment is None else to_moment(moment)

    def standing(self, identities: Iterable[UUID]) -> set[UUID]:
        """Which of these calls are still there, held or not."""
        return self._ids(identities, "")

    def free(self, identities: Iterable[UUID]) -> set[UUID]:
        """Which of these calls are there and held by nobody. Their rows are locked for a moment to find that out."""
        return self._ids(identities, "FOR UPDATE SKIP LOCKED")

    def _ids(self, identities: Iterable[UUID], lock: str) -> set[UUID]:
        wanted = array(identities)
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"SELECT c.id FROM {self.table} c WHERE c.id = ANY(%s::uuid[]) {lock}", [wanted])
            return {row[0] for row in cursor.fetchall()}

    def waiting(self, endpoint: str, ahead: int) -> bool:
        """Whether a call of the endpoint is due and not leased."""
        now = clock.clock().expression()
        sql = (
            f"SELECT 1 FROM {self.table} c WHERE c.endpoint = %s AND c.token IS NULL AND c.due_at <= {now}"
            f" AND c.wake_at <= {now} + %s * interval '1 millisecond' {self.heads} ORDER BY c.wake_at, c.id LIMIT 1"
        )
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, [endpoint, ahead])
            return cursor.fetchone() is not None

    def told(self, endpoints: list[str], since: int | None, ahead: int, most: int) -> dict[str, int]:
        """Of the endpoints of which something is due, how many of their calls somebody was told of within the last
        `ahead` ms and nobody has taken yet; counted up to `most`."""
        now = clock.clock().expression()
        of = f"SELECT 1 FROM {self.table} c WHERE c.endpoint = e.endpoint AND c.wake_at"
        sql = (
            f"SELECT e.endpoint, (SELECT count(*) FROM ({of} > {now}"
            f" AND c.wake_at <= {now} + %s * interval '1 millisecond' AND c.due_at <= {now} AND c.token IS NULL"
            f" LIMIT %s) t) FROM unnest(%s::text[]) AS e(endpoint)"
            f" WHERE EXISTS ({of} <= {now} {from_moment(since)})"
        )
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, [ahead, most, endpoints])
            return dict(cursor.fetchall())

    def leased(self, endpoint: str) -> int:
        """How many calls of the endpoint are being run under a lease that holds."""
        sql = (
            f"SELECT count(*) FROM {self.table} c WHERE c.endpoint = %s AND c.token IS NOT NULL"
            f" AND c.wake_at > {clock.clock().expression()}"
        )
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, [endpoint])
            return int(cursor.fetchone()[0])


def from_moment(since: int | None) -> str:
    # Written into the statement as a constant: the planner then sees a range of the index.
    return "" if since is None else f"AND c.wake_at >= '{to_datetime(since).isoformat()}'::timestamptz"


def full(found: Sequence[Live], quota: int) -> dict[str, Live]:
    """Of endpoints that gave as many calls as were asked for, the last call: beyond it nothing was seen.

    `found` is in order of time.
    """
    last: dict[str, Live] = {}
    count: Counter[str] = Counter()
    for live in found:
        last[live.endpoint] = live
        count[live.endpoint] += 1
    return {endpoint: live for endpoint, live in last.items() if count[endpoint] >= quota}
