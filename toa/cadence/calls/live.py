"""Claiming stored calls and taking them away.

Every claim is by SKIP LOCKED: what somebody else works on is left to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.finding import Finding, from_moment
from toa.cadence.calls.stored import Live
from toa.core.clock import to_datetime
from toa.runtime import clock, settings
from toa.runtime.sending import run
from toa.runtime.sql import array, moment_text

__all__ = ["LOCK_TIMEOUT", "Kind", "Live"]

LOCK_TIMEOUT = "100ms"
"""Longest wait of a firing transaction for any lock."""

# A row may have been written by hand, with microseconds that a moment does not have.
_CUT = "date_trunc('milliseconds', c.wake_at)"


class Kind(Finding):
    """A table of stored calls: what it holds can be found, claimed and settled."""

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
        # Row by row, by the primary key: a join is planned as a walk over the whole table where that is not large.
        sql = (
            f"SELECT d.id, set_config('lock_timeout', '{LOCK_TIMEOUT}', true)"
            f" FROM unnest(%s::uuid[], %s::timestamptz[], %s::smallint[]) AS n(id, wake, attempt)"
            f" CROSS JOIN LATERAL (SELECT c.id FROM {self.table} c WHERE c.id = n.id AND {_CUT} = n.wake"
            f" AND c.attempt = n.attempt AND c.token IS NULL FOR UPDATE SKIP LOCKED) d"
        )
        ordered = sorted(found, key=lambda live: live.id)
        arrays: list[Any] = [
            array(live.id for live in ordered),
            array(moment_text(live.wake) for live in ordered),
            array(live.attempt for live in ordered),
        ]
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, arrays)
            claimed = {row[0] for row in cursor.fetchall()}
            if self.behind and claimed:
                # OFFSET keeps it a probe for each, as above.
                cursor.execute(
                    f"SELECT c.id FROM {self.table} c WHERE c.id = ANY(%s::uuid[]) AND EXISTS"
                    f" (SELECT 1 FROM {self.table} b WHERE {self.behind} AND b.id <> ALL(%s::uuid[]) OFFSET 0)",
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
            f" AND c.wake_at <= {clock.clock().expression()} {from_moment(since)} {self.heads}"
            f" ORDER BY c.wake_at, c.id LIMIT %s FOR UPDATE SKIP LOCKED) d)"
            f" UPDATE {self.table} c SET wake_at = %s, token = NULL,"
            f" strikes = c.strikes + (c.token IS NOT NULL)::int"
            # An array, not a join: whatever the planner expects of the look, it goes by the primary key.
            f" WHERE c.id = ANY (ARRAY(SELECT id FROM taken))"
            f" RETURNING {self.columns_of('c')}"
        )
        return self.read(sql, [endpoints, limit, to_datetime(until)])

    def lease(self, endpoint: str, token: UUID, now: int, until: int, ahead: int) -> Live | None:
        """Put a lease on the oldest call of the endpoint that is due and not leased; null where there is none."""
        sql = (
            f"WITH taken AS MATERIALIZED (SELECT c.id FROM {self.table} c WHERE c.endpoint = %s AND c.token IS NULL"
            f" AND c.wake_at <= %s AND c.due_at <= {clock.clock().expression()} {self.heads}"
            f" ORDER BY c.wake_at, c.id LIMIT 1 FOR UPDATE SKIP LOCKED)"
            f" UPDATE {self.table} c SET wake_at = %s, token = %s FROM taken WHERE c.id = taken.id"
            f" RETURNING {self.columns_of('c')}"
        )
        limits = [endpoint, to_datetime(now + ahead), to_datetime(until), token]
        found = self.read(sql, limits)
        return found[0] if found else None

    def first_of(self, receiver: str, target: str, wanted: str | None) -> Live | None:
        """The next delivery to one object, parked or not, locked: the wanted one where it is there, else in order of
        the events. For whoever holds the object's lock."""
        sql = (
            f"SELECT {self.columns_of('c')} FROM {self.table} c"
            f" WHERE c.receiver = %s AND c.target = %s AND c.due_at <= {clock.clock().expression()} {self.heads}"
            f" ORDER BY c.id = %s DESC NULLS LAST, c.created_at, c.version, c.position LIMIT 1 FOR UPDATE SKIP LOCKED"
        )
        found = self.read(sql, [receiver, target, wanted])
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
            f"SELECT {self.columns_of('c')} FROM {self.table} c"
            f" WHERE c.endpoint = %s AND c.wake_at <= %s ORDER BY c.wake_at, c.id LIMIT %s FOR UPDATE SKIP LOCKED"
        )
        return self.read(sql, [endpoint, to_datetime(until), limit])

    def hold(self, leased: Live) -> bool:
        """Lock the row of a leased call for its settlement; false where the token is not ours any more."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"SELECT 1 FROM {self.table} WHERE id = %s AND token = %s FOR UPDATE", [leased.id, leased.token]
            )
            return cursor.fetchone() is not None

    # -- settling -------------------------------------------------------------------------------------------

    def remove(self, live: Live) -> None:
        """Delete a row that the open transaction has locked."""
        run(f"DELETE FROM {self.table} WHERE id = %s", [live.id])

    def remove_many(self, identities: Sequence[UUID]) -> None:
        """Delete rows that the open transaction has locked, by one statement."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"DELETE FROM {self.table} WHERE id = ANY(%s::uuid[])", [array(identities)])

    def count_strike(self, *lives: Live) -> None:
        """Add a strike to each of these rows, which the open transaction has locked."""
        with connections[settings.alias()].cursor() as cursor:
            sql = f"UPDATE {self.table} SET strikes = strikes + 1 WHERE id = ANY(%s::uuid[])"
            cursor.execute(sql, [array(live.id for live in lives)])

    def postpone(self, live: Live, wake: int | None, attempt: int, error: str | None = None) -> None:
        """Set when to look at a locked row next; null parks it. `error` is what the try ended in, where it was one."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(
                f"UPDATE {self.table} SET wake_at = %s, attempt = %s, error = coalesce(%s, error), token = NULL"
                " WHERE id = %s",
                [None if wake is None else to_datetime(wake), attempt, error, live.id],
            )
