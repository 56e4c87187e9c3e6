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

from toa.core.clock import LEAST, to_datetime
from toa.core.duration import DAY_MS
from toa.runtime import clock, settings

STEP = 1_000
"""Rows that one statement deletes at most."""


def _statement(table: str, key: str, moment: str, unless: str = "") -> str:
    """A step over one table, by the index on its moments: from one moment on, before another, so many rows."""
    # The rows that a step deleted stay in the index for as long as an old snapshot is open: the next one starts behind.
    return f"""
WITH old AS MATERIALIZED (
    SELECT d.{key} FROM {table} d WHERE d.{moment} >= %s AND d.{moment} < %s {unless}
     ORDER BY d.{moment} LIMIT %s FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM {table} d USING old WHERE d.{key} = old.{key} RETURNING d.{moment} AS moment)
SELECT count(*), max(moment) FROM gone
"""


_HISTORY = _statement("toa_history", "id", "at", "AND NOT EXISTS (SELECT 1 FROM toa_failure f WHERE f.call = d.call)")
# The latest of an object stays: a change beside operations is seen by comparing with it.
_REVISIONS = _statement(
    "toa_revision",
    "id",
    "at",
    "AND EXISTS (SELECT 1 FROM toa_revision n"
    " WHERE n.component = d.component AND n.entity = d.entity AND n.version > d.version)",
)
_ONCE = _statement("toa_once", "digest", "expires_at")
_LOCKS = _statement("toa_lock", "key", "until")
_RUNS = _statement("toa_endedrun", "id", "ended_at")


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
    kept = to_datetime(max(now - days * DAY_MS, LEAST))
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
