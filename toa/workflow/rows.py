"""The rows of runs: claiming one, reading its journal, writing what was decided, taking it away.

Whoever goes on with a run holds its row, and finds `seq` as it was read: of two that go on, one does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.live import LOCK_TIMEOUT
from toa.core.clock import to_datetime, to_moment
from toa.core.identity import dumps
from toa.exceptions import Busy
from toa.models import Outcome
from toa.runtime import settings
from toa.runtime.sending import run
from toa.runtime.sql import array, insert_rows
from toa.runtime.table import from_json, jsonb
from toa.workflow.entries import Answer, Entry, Journal

RECORD_BYTES = 1_048_576
"""Bytes of JSON that the record of an ended run keeps of the values of its steps."""

_READ = """
SELECT r.id, r.endpoint, r.request, r.key, r.due_at, r.created_at, r.wake_at, r.chain, r.cause, r.seq, r.steps,
       r.waits, r.watches, r.cancel_at, r.cancel_by, r.attempt, r.strikes, r.failed_at {and_more}
  FROM toa_run r WHERE r.id = %s AND
"""
_CLAIM = _READ.format(and_more=f", set_config('lock_timeout', '{LOCK_TIMEOUT}', true)")
_PLAIN = _READ.format(and_more="")
_AS_FOUND = "date_trunc('milliseconds', r.wake_at) = %s AND r.attempt = %s FOR UPDATE SKIP LOCKED"
_AS_LEFT = "r.seq = %s FOR UPDATE SKIP LOCKED"
_ANY = "TRUE"
_WAITED_FOR = "TRUE FOR UPDATE"
_JOURNAL = "SELECT position, kind, name, outcome, value, at FROM toa_runstep WHERE run = %s ORDER BY position"
_UPDATE = """
UPDATE toa_run SET seq = seq + 1, steps = %s, waits = %s, watches = %s, wake_at = %s, attempt = %s, strikes = 0
 WHERE id = %s
"""
_PARK = """
UPDATE toa_run SET seq = seq + 1, wake_at = NULL, failed_at = %s, attempt = 0, strikes = 0, steps = %s, waits = %s,
       watches = %s
 WHERE id = %s
"""
_WITHDRAW = """
DELETE FROM toa_runcall WHERE id IN (SELECT c.id FROM toa_runcall c WHERE c.run = %s FOR UPDATE SKIP LOCKED)
"""


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
        return Journal(
            (
                position,
                Entry(kind=kind, name=name, outcome=Answer(outcome), value=from_json(value), at=to_moment(at)),
            )
            for position, kind, name, outcome, value, at in cursor.fetchall()
        )


def write(
    row: Row, journal: Journal, watches: dict[str, list[int]], waits: dict[str, Any] | None, wake: int | None
) -> Row:
    """Write what is new of a locked run, and what it waits for; returns it as it is then."""
    write_journal(row.id, journal)
    attempt = 0 if waits is None else int(waits.get("attempt", 0))
    moment = None if wake is None else to_datetime(wake)
    run(_UPDATE, [len(journal), json(waits), dumps(watches), moment, attempt, row.id])
    return replace(row, seq=row.seq + 1, steps=len(journal), waits=waits, watches=watches, wake=wake, attempt=attempt)


def write_journal(identity: UUID, journal: Journal) -> None:
    """Write what the database does not have of a journal."""
    written = journal.written()
    gone = journal.removed() + [position for position, _, stored in written if stored]
    if gone:
        run("DELETE FROM toa_runstep WHERE run = %s AND position = ANY(%s::integer[])", [identity, array(gone)])
    insert_rows("toa_runstep", [step_row(identity, position, entry) for position, entry, _ in written])


def step_row(run: UUID, position: int, entry: Entry) -> dict[str, Any]:
    """A step as a row of the journal."""
    return {
        "run": run,
        "position": position,
        "kind": entry.kind,
        "name": entry.name,
        "outcome": entry.outcome.value,
        "value": None if entry.value is None else jsonb(entry.value),
        "at": to_datetime(entry.at),
    }


def park(row: Row, now: int) -> None:
    """Let a locked run rest as it is, until somebody decides about its failure."""
    run(_PARK, [to_datetime(now), row.steps, json(row.waits), dumps(row.watches), row.id])


def withdraw(run: UUID) -> None:
    """Take the call away that a locked run waits for; raises Busy where it is being settled at this moment."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_WITHDRAW, [run])
        if not cursor.rowcount:
            cursor.execute("SELECT 1 FROM toa_runcall WHERE run = %s LIMIT 1", [run])
            if cursor.fetchone() is not None:
                raise Busy("the call that a run waits for is being settled")


def remove(row: Row, journal: Sequence[tuple[int, Entry]], outcome: Outcome, result: Any, error: str, now: int) -> None:
    """Take a locked run away and keep the record of it."""
    record = {
        "id": row.id,
        "endpoint": row.endpoint,
        "request": jsonb(row.request),
        "key": row.key,
        "outcome": outcome.value,
        "result": None if result is None else jsonb(result),
        "error": error,
        "steps": jsonb(_kept(journal)),
        "cause": None if row.cause is None else jsonb(row.cause),
        "due_at": to_datetime(row.due),
        "created_at": to_datetime(row.created),
        "ended_at": to_datetime(now),
    }
    insert_rows("toa_endedrun", [record])
    if row.steps:
        run("DELETE FROM toa_runstep WHERE run = %s", [row.id])
    run("DELETE FROM toa_run WHERE id = %s", [row.id])


def _kept(journal: Sequence[tuple[int, Entry]]) -> list[dict[str, Any]]:
    """A journal as its record keeps it: values as long as there is room for them, and every step."""
    room = RECORD_BYTES
    kept = []
    for position, entry in journal:
        room -= len(dumps(entry.value))
        kept.append(
            {
                "position": position,
                "kind": entry.kind,
                "name": entry.name,
                "outcome": entry.outcome.value,
                "value": entry.value if room >= 0 else None,
                "at": entry.at,
            }
        )
    return kept


def _one(sql: str, parameters: list[Any]) -> Row | None:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, parameters)
        found = cursor.fetchone()
    if found is None:
        return None
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


def count_strike(row: Row) -> None:
    """Add a strike to a locked run. What it commits takes all of them away."""
    run("UPDATE toa_run SET strikes = strikes + 1 WHERE id = %s", [row.id])


def json(value: Any) -> str | None:
    """A value as a parameter of a nullable column of JSON."""
    return None if value is None else dumps(value)
