"""Stored calls in their tables: finding what is due, claiming a row, taking it away.

Every claim is by SKIP LOCKED: what somebody else works on is left to them. A call is found by its endpoint's part of
one index, so that neither a backlog nor endpoints that this code does not know are walked over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from toa.core.clock import to_datetime
from toa.runtime import clock, settings
from toa.runtime.sql import MOMENT, array

LOCK_TIMEOUT = "100ms"
"""Longest wait of a firing transaction for any lock."""

_COLUMNS = "id, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, token, mark"
_MOMENTS = frozenset({"due_at", "wake_at"})
# A row may have been written by hand, with microseconds that a moment does not have.
_CUT = "date_trunc('milliseconds', c.wake_at)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A stored call as found. Moments are epoch ms."""

    id: UUID
    source: str
    """delay, send or delivery, as the history shows it."""
    endpoint: str
    request: dict[str, Any]
    due: int
    wake: int
    attempt: int
    strikes: int
    chain: tuple[str, ...]
    cause: dict[str, Any] | None
    token: UUID | None
    mark: dict[str, Any] | None
    entity: str
    """Whom it concerns, as `component:id`."""
    overdue: int | None = None
    """How many ms late it may begin; null: however late."""
    base: int | None = None
    """What `after()` counts from; null: now."""
    pair: tuple[str, str, str] | None = None
    """Of a delivery: source component, source id and receiving component, within which order holds."""
    turn: tuple[int, int] = (0, 0)
    """Of a delivery: its place in its pair, by VERSION of the source and position of the receiver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A table of stored calls, and how its rows differ from the others'."""

    name: str
    table: str
    extra: str
    """Columns beyond the shared ones, as SQL."""
    describe: Callable[[Sequence[Any]], dict[str, Any]]
    """From the extra values to the fields of `Live` that depend on the kind."""
    behind: str = ""
    """Condition as SQL that the row `b` comes before the row `c` and holds it back; empty where nothing does."""
    parks: bool = False
    """Whether a failed call stays, parked, and holds back those behind it."""

    # -- finding --------------------------------------------------------------------------------------------

    def horizon(self, endpoints: list[str], since: int | None) -> tuple[str, list[Any]]:
        """Oldest due, newest due and next coming `wake_at` of these endpoints, as SQL with parameters."""
        now = clock.clock().expression()
        of = f"SELECT c.wake_at FROM {self.table} c WHERE c.endpoint = e.endpoint AND c.wake_at"
        sql = (
            f"SELECT min(h.due) AS due, max(h.newest) AS newest, min(h.coming) AS coming"
            f" FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (SELECT"
            f" ({of} <= {now} {_from(since)} {self.heads} ORDER BY c.wake_at, c.id LIMIT 1) AS due,"
            f" ({of} <= {now} ORDER BY c.wake_at DESC, c.id DESC LIMIT 1) AS newest,"
            f" ({of} > {now} ORDER BY c.wake_at, c.id LIMIT 1) AS coming) h"
        )
        return sql, [endpoints]

    def due(self, endpoints: list[str], quota: int, since: int | None) -> list[Live]:
        """What is due, oldest first, at most `quota` for each endpoint, whether or not it has to wait behind something.
        Locks nothing."""
        sql = (
            f"SELECT {_read_from('d', _COLUMNS)}, {_prefixed('d', self.extra)}"
            f" FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL"
            f" (SELECT {_COLUMNS}, {self.extra} FROM {self.table} c"
            f" WHERE c.endpoint = e.endpoint AND c.wake_at <= {clock.clock().expression()} {_from(since)}"
            f" ORDER BY c.wake_at, c.id LIMIT %s) d ORDER BY d.wake_at, d.id"
        )
        return self._read(sql, [endpoints, quota])

    # -- claiming -------------------------------------------------------------------------------------------

    def claim(self, found: Live) -> bool:
        """Lock the row of a call found before, in the open transaction; false where it is held, gone or moved."""
        sql = (
            f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT}', true) FROM {self.table} c"
            f" WHERE c.id = %s AND {_CUT} = %s AND c.attempt = %s AND c.token IS NOT DISTINCT FROM %s {self.heads}"
            f" FOR UPDATE SKIP LOCKED"
        )
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, [found.id, to_datetime(found.wake), found.attempt, found.token])
            return cursor.fetchone() is not None

    def claim_many(self, found: Sequence[Live]) -> set[UUID]:
        """Lock the rows of calls found before, in id order, in the open transaction; returns those that could be
        locked and are as they were found, without those that wait behind one that could not."""
        sql = (
            f"SELECT c.id, set_config('lock_timeout', '{LOCK_TIMEOUT}', true)"
            f" FROM unnest(%s::uuid[], %s::timestamptz[], %s::smallint[]) AS n(id, wake, attempt)"
            f" JOIN {self.table} c ON c.id = n.id AND {_CUT} = n.wake AND c.attempt = n.attempt"
            f" WHERE c.token IS NULL ORDER BY c.id FOR UPDATE OF c SKIP LOCKED"
        )
        arrays: list[Any] = [
            array(live.id for live in found),
            array(to_datetime(live.wake).isoformat() for live in found),
            array(live.attempt for live in found),
        ]
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, arrays)
            claimed = {row[0] for row in cursor.fetchall()}
            if self.behind and claimed:
                cursor.execute(
                    f"SELECT c.id FROM {self.table} c WHERE c.id = ANY(%s::uuid[]) AND EXISTS"
                    f" (SELECT 1 FROM {self.table} b WHERE {self.behind} AND b.id <> ALL(%s::uuid[]))",
                    [array(claimed)] * 2,
                )
                claimed -= {row[0] for row in cursor.fetchall()}
        return claimed

    def push(self, endpoints: list[str], until: int, limit: int, since: int | None) -> list[Live]:
        """Move the wake moment of due leased calls on, so that each is hinted once; returns them as they are now.

        A token that is still there belongs to a run whose lease lapsed: it is taken away and counted as a strike.
        """
        sql = (
            f"WITH taken AS MATERIALIZED (SELECT d.id FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL"
            f" (SELECT c.id, c.wake_at FROM {self.table} c WHERE c.endpoint = e.endpoint"
            f" AND c.wake_at <= {clock.clock().expression()} {_from(since)} {self.heads}"
            f" ORDER BY c.wake_at, c.id LIMIT %s FOR UPDATE SKIP LOCKED) d)"
            f" UPDATE {self.table} c SET wake_at = %s, token = NULL,"
            f" strikes = c.strikes + (c.token IS NOT NULL)::int"
            # An array, not a join: whatever the planner expects of the look, it goes by the primary key.
            f" WHERE c.id = ANY (ARRAY(SELECT id FROM taken))"
            f" RETURNING {_read_from('c', _COLUMNS)}, {_prefixed('c', self.extra)}"
        )
        return self._read(sql, [endpoints, limit, to_datetime(until)])

    def lease(self, endpoint: str, token: UUID, now: int, until: int, ahead: int) -> Live | None:
        """Put a lease on the oldest call of the endpoint that is due and not leased; null where there is none."""
        sql = (
            f"WITH taken AS MATERIALIZED (SELECT c.id FROM {self.table} c WHERE c.endpoint = %s AND c.token IS NULL"
            f" AND c.wake_at <= %s AND c.due_at <= {clock.clock().expression()} {self.heads}"
            f" ORDER BY c.wake_at, c.id LIMIT 1 FOR UPDATE SKIP LOCKED)"
            f" UPDATE {self.table} c SET wake_at = %s, token = %s FROM taken WHERE c.id = taken.id"
            f" RETURNING {_read_from('c', _COLUMNS)}, {_prefixed('c', self.extra)}"
        )
        limits = [endpoint, to_datetime(now + ahead), to_datetime(until), token]
        found = self._read(sql, limits)
        return found[0] if found else None

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

    def leased(self, endpoint: str) -> int:
        """How many calls of the endpoint are being run under a lease that holds."""
        sql = (
            f"SELECT count(*) FROM {self.table} c WHERE c.endpoint = %s AND c.token IS NOT NULL"
            f" AND c.wake_at > {clock.clock().expression()}"
        )
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, [endpoint])
            return int(cursor.fetchone()[0])

    def first_of(self, receiver: str, target: str, wanted: str | None) -> Live | None:
        """The next delivery to one object, parked or not, locked: the wanted one where it is there, else in order of
        the events. For whoever holds the object's lock."""
        sql = (
            f"SELECT {_read_from('c', _COLUMNS)}, {_prefixed('c', self.extra)} FROM {self.table} c"
            f" WHERE c.receiver = %s AND c.target = %s AND c.due_at <= {clock.clock().expression()} {self.heads}"
            f" ORDER BY c.id = %s DESC NULLS LAST, c.created_at, c.version, c.position LIMIT 1 FOR UPDATE SKIP LOCKED"
        )
        found = self._read(sql, [receiver, target, wanted])
        return found[0] if found else None

    def release(self, receiver: str, target: str, now: int) -> None:
        """Let the deliveries that parked for an object come due again; those with a failure of their own stay."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"UPDATE {self.table} c SET wake_at = %s WHERE c.receiver = %s AND c.target = %s AND c.wake_at IS NULL"
                " AND NOT EXISTS (SELECT 1 FROM toa_failure f WHERE f.call = c.id)",
                [to_datetime(now), receiver, target],
            )

    def take(self, endpoint: str, until: int, limit: int) -> list[Live]:
        """Lock the calls of an endpoint that woke up to a moment (epoch ms), oldest first; what is held is left out."""
        sql = (
            f"SELECT {_read_from('c', _COLUMNS)}, {_prefixed('c', self.extra)} FROM {self.table} c"
            f" WHERE c.endpoint = %s AND c.wake_at <= %s ORDER BY c.wake_at, c.id LIMIT %s FOR UPDATE SKIP LOCKED"
        )
        return self._read(sql, [endpoint, to_datetime(until), limit])

    def hold(self, leased: Live) -> bool:
        """Lock the row of a leased call for its settlement; false where the token is not ours any more."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"SELECT 1 FROM {self.table} WHERE id = %s AND token = %s FOR UPDATE", [leased.id, leased.token]
            )
            return cursor.fetchone() is not None

    @property
    def heads(self) -> str:
        """Condition as SQL on the row `c` that leaves out what waits behind something else."""
        return f"AND NOT EXISTS (SELECT 1 FROM {self.table} b WHERE {self.behind})" if self.behind else ""

    # -- settling -------------------------------------------------------------------------------------------

    def remove(self, live: Live) -> None:
        """Delete a row that the open transaction has locked."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"DELETE FROM {self.table} WHERE id = %s", [live.id])

    def remove_many(self, identities: Sequence[UUID]) -> None:
        """Delete rows that the open transaction has locked, by one statement."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"DELETE FROM {self.table} WHERE id = ANY(%s::uuid[])", [array(identities)])

    def count_strike(self, live: Live) -> None:
        """Add a strike to a locked row."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"UPDATE {self.table} SET strikes = strikes + 1 WHERE id = %s", [live.id])

    def postpone(self, live: Live, wake: int | None, attempt: int) -> None:
        """Set when to look at a locked row next; null parks it."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"UPDATE {self.table} SET wake_at = %s, attempt = %s, token = NULL WHERE id = %s",
                [None if wake is None else to_datetime(wake), attempt, live.id],
            )

    def _read(self, sql: str, parameters: list[Any]) -> list[Live]:
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, parameters)
            return [self._live(row) for row in cursor.fetchall()]

    def _live(self, row: Sequence[Any]) -> Live:
        identity, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, token, mark, *extra = row
        return Live(
            id=identity,
            endpoint=endpoint,
            request=_json(request) or {},
            due=due_at,
            wake=wake_at if wake_at is not None else due_at,
            attempt=attempt,
            strikes=strikes,
            chain=tuple(chain),
            cause=_json(cause),
            token=token,
            mark=_json(mark),
            **self.describe(extra),
        )


def _from(since: int | None) -> str:
    # Written into the statement as a constant: the planner then sees a range of the index.
    return "" if since is None else f"AND c.wake_at >= '{to_datetime(since).isoformat()}'::timestamptz"


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _prefixed(row: str, columns: str) -> str:
    return ", ".join(f"{row}.{column.strip()}" for column in columns.split(","))


def _read_from(row: str, columns: str) -> str:
    """The columns of a row as `_live` takes them."""
    named = [column.strip() for column in columns.split(",")]
    return ", ".join(
        MOMENT.format(column=f"{row}.{column}") if column in _MOMENTS else f"{row}.{column}" for column in named
    )
