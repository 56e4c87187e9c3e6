"""Pruning: what was settled long ago leaves, in bounded steps that each commit.

What is still to be made and what failed is never touched, and as long as a failure waits for a decision the history of
its call stays with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from toa.core.clock import to_datetime
from toa.core.duration import DAY_MS
from toa.runtime import clock, settings

STEP = 1_000
"""Rows that one statement deletes at most."""

# The rows that a step deleted stay in the index for as long as an old snapshot is open: the next one starts behind.
_HISTORY = """
WITH old AS MATERIALIZED (
    SELECT h.id FROM toa_history h
     WHERE h.at >= %s AND h.at < %s AND NOT EXISTS (SELECT 1 FROM toa_failure f WHERE f.call = h.call)
     ORDER BY h.at LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM toa_history h USING old WHERE h.id = old.id RETURNING h.at)
SELECT count(*), max(at) FROM gone
"""
# The latest of an object stays: a change beside operations is seen by comparing with it.
_REVISIONS = """
WITH old AS MATERIALIZED (
    SELECT r.id FROM toa_revision r
     WHERE r.at >= %s AND r.at < %s AND EXISTS (SELECT 1 FROM toa_revision n
           WHERE n.component = r.component AND n.entity = r.entity AND n.version > r.version)
     ORDER BY r.at LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM toa_revision r USING old WHERE r.id = old.id RETURNING r.at)
SELECT count(*), max(at) FROM gone
"""
_ONCE = """
WITH old AS MATERIALIZED (
    SELECT o.digest FROM toa_once o WHERE o.expires_at >= %s AND o.expires_at < %s
     ORDER BY o.expires_at LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM toa_once o USING old WHERE o.digest = old.digest RETURNING o.expires_at)
SELECT count(*), max(expires_at) FROM gone
"""
_LOCKS = """
WITH old AS MATERIALIZED (
    SELECT l.key FROM toa_lock l WHERE l.until >= %s AND l.until < %s
     ORDER BY l.until LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM toa_lock l USING old WHERE l.key = old.key RETURNING l.until)
SELECT count(*), max(until) FROM gone
"""
_RUNS = """
WITH old AS MATERIALIZED (
    SELECT e.id FROM toa_endedrun e WHERE e.ended_at >= %s AND e.ended_at < %s
     ORDER BY e.ended_at LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM toa_endedrun e USING old WHERE e.id = old.id RETURNING e.ended_at)
SELECT count(*), max(ended_at) FROM gone
"""


@dataclass(frozen=True, slots=True)
class Pruned:
    """Rows that one step deleted."""

    what: str
    """history, revisions, once (remembered replies past their time), locks (left by processes that died) or runs (of
    workflows, ended)."""
    rows: int


def history_days() -> int:
    """`TOA["HISTORY_DAYS"]`: how many days settled calls are kept."""
    days = settings.get("HISTORY_DAYS")
    if type(days) is not int or days < 1:
        raise ImproperlyConfigured(f"TOA['HISTORY_DAYS'] is a whole number of days from 1, not {days!r}")
    return days


def prune(days: int, step: int = STEP) -> Iterator[Pruned]:
    """Delete what was settled or revised more than `days` ago, and remembered replies past their time.

    Each step of up to `step` rows is a transaction of its own and is reported when it is done; stopping in between
    loses nothing.
    """
    now = clock.clock().now()
    kept = to_datetime(now - days * DAY_MS)
    kinds = (
        ("history", _HISTORY, kept),
        ("revisions", _REVISIONS, kept),
        ("once", _ONCE, to_datetime(now)),
        ("locks", _LOCKS, kept),
        ("runs", _RUNS, kept),
    )
    for what, sql, before in kinds:
        since: Any = "-infinity"
        while True:
            with connections[settings.alias()].cursor() as cursor:
                cursor.execute(sql, [since, before, step])
                rows, last = cursor.fetchone()
            if rows:
                yield Pruned(what, rows)
            if rows < step:
                break
            since = last
