"""The rows of runs: claiming one, and reading its journal.

Whoever goes on with a run holds its row, and finds `seq` as it was read: of two that go on, one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.live import LOCK_TIMEOUT, Live
from toa.core.clock import to_datetime, to_moment
from toa.runtime import settings
from toa.runtime.sql import array, moment_text
from toa.runtime.table import from_json
from toa.workflow.entries import Answer, Entry, Journal

_COLUMNS = """
SELECT r.id, r.endpoint, r.request, r.key, r.due_at, r.created_at, r.wake_at, r.chain, r.cause, r.seq, r.steps,
       r.waits, r.watches, r.cancel_at, r.cancel_by, r.attempt, r.strikes, r.failed_at {and_more}
"""
_READ = _COLUMNS + "  FROM toa_run r WHERE r.id = %s AND\n"
_CLAIM = _READ.format(and_more=f", set_config('lock_timeout', '{LOCK_TIMEOUT}', true)")
_PLAIN = _READ.format(and_more="")
_AS_FOUND = "date_trunc('milliseconds', r.wake_at) = %s AND r.attempt = %s FOR UPDATE SKIP LOCKED"
_AS_LEFT = "r.seq = %s FOR UPDATE SKIP LOCKED"
_ANY = "TRUE"
_WAITED_FOR = "TRUE FOR UPDATE"
# Row by row, by the primary key: a join is planned as a walk over the whole table where that is not large.
_MANY = f"""
SELECT d.*, set_config('lock_timeout', '{LOCK_TIMEOUT}', true)
  FROM unnest(%s::uuid[], %s::timestamptz[], %s::integer[], %s::bigint[]) AS n(id, wake, attempt, seq)
 CROSS JOIN LATERAL ({_COLUMNS.format(and_more="")} FROM toa_run r WHERE r.id = n.id AND CASE WHEN n.seq IS NULL
       THEN date_trunc('milliseconds', r.wake_at) = n.wake AND r.attempt = n.attempt ELSE r.seq = n.seq END
       FOR UPDATE SKIP LOCKED) d
"""
_JOURNALS = """
SELECT run, position, kind, name, outcome, value, at FROM toa_runstep WHERE run = ANY(%s::uuid[]) ORDER BY run, position
"""
_JOURNAL = "SELECT position, kind, name, outcome, value, at FROM toa_runstep WHERE run = %s ORDER BY position"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A run as its row says, locked. Moments are epoch ms."""

    id: UUID
    endpoint: str
    input: Any
    request: Any
    key: str
    due: int
    created: int
    wake: int | None
    chain: tuple[str, ...]
    cause: Any
    seq: int
    steps: int
    waits: dict[str, Any] | None
    watches: dict[str, list[int]]
    cancel_at: int | None
    cancel_by: str
    attempt: int
    strikes: int
    failed_at: int | None

    def hops(self) -> tuple[str, ...]:
        """The chain as a call of the run will carry it."""
        return (*self.chain, self.endpoint)


def claim(identity: UUID, wake: int, attempt: int) -> Row | None:
    """Lock a run that was found due, in the open transaction; null where it is held, gone or moved."""
    return _one(_CLAIM + _AS_FOUND, [identity, to_datetime(wake), attempt])


def claim_many(found: Sequence[tuple[Live, int | None]]) -> dict[UUID, Row]:
    """Lock runs in the open transaction, in id order: those that were found due, and those that this process went on
    with before, at the `seq` that it left. Those that are held, gone or moved are not among them."""
    ordered = sorted(found, key=lambda one: one[0].id)
    arrays = [
        array(live.id for live, _ in ordered),
        array(moment_text(live.wake) for live, _ in ordered),
        array(live.attempt for live, _ in ordered),
        array("NULL" if seq is None else seq for _, seq in ordered),
    ]
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_MANY, arrays)
        return {row.id: row for row in map(_row, cursor.fetchall())}


def claim_again(row: Row) -> Row | None:
    """Lock a run that this process went on with before; null where somebody else did since, or holds it."""
    return _one(_CLAIM + _AS_LEFT, [row.id, row.seq])


def peek(identity: UUID) -> Row | None:
    """A run that is on its way, not locked; null where there is none."""
    return _one(_PLAIN + _ANY, [identity])


def hold(identity: UUID) -> Row | None:
    """Lock a run for whoever decides about it, waiting for who goes on with it; null where there is none."""
    return _one(_PLAIN + _WAITED_FOR, [identity])


def journal_of(row: Row) -> Journal:
    """The journal of a run, by one query."""
    if not row.steps:
        return Journal()
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_JOURNAL, [row.id])
        return Journal(map(_step, cursor.fetchall()))


def journals_of(claimed: Iterable[Row]) -> dict[UUID, Journal]:
    """The journals of runs that have done something, by one query."""
    wanted = [row.id for row in claimed if row.steps]
    if not wanted:
        return {}
    steps: dict[UUID, list[tuple[int, Entry]]] = {}
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_JOURNALS, [array(wanted)])
        for run, *step in cursor.fetchall():
            steps.setdefault(run, []).append(_step(step))
    return {run: Journal(done) for run, done in steps.items()}


def _step(found: Sequence[Any]) -> tuple[int, Entry]:
    position, kind, name, outcome, value, at = found
    return position, Entry(kind=kind, name=name, outcome=Answer(outcome), value=from_json(value), at=to_moment(at))


def _one(sql: str, parameters: list[Any]) -> Row | None:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, parameters)
        found = cursor.fetchone()
    return None if found is None else _row(found)


def _row(found: Sequence[Any]) -> Row:
    (identity, endpoint, request, key, due, created, wake, chain, cause, seq, steps) = found[:11]
    waits, watches, cancel_at, cancel_by, attempt, strikes, failed_at = found[11:18]
    request = from_json(request) or {}
    return Row(
        id=identity,
        endpoint=endpoint,
        input=request.get("input"),
        request=request,
        key=key,
        due=to_moment(due),
        created=to_moment(created),
        wake=None if wake is None else to_moment(wake),
        chain=tuple(chain),
        cause=from_json(cause),
        seq=seq,
        steps=steps,
        waits=from_json(waits),
        watches=from_json(watches),
        cancel_at=None if cancel_at is None else to_moment(cancel_at),
        cancel_by=cancel_by,
        attempt=attempt,
        strikes=strikes,
        failed_at=None if failed_at is None else to_moment(failed_at),
    )
