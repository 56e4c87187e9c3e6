"""Writing what was decided about a locked run: its steps, what it waits for, its rest, its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connections

from toa.core.clock import to_datetime
from toa.core.identity import dumps
from toa.exceptions import Busy
from toa.models import Outcome
from toa.runtime import settings
from toa.runtime.sending import run
from toa.runtime.sql import array, document, insert_rows, moment_text
from toa.runtime.table import jsonb
from toa.workflow.entries import Entry, Journal
from toa.workflow.rows import Row

RECORD_BYTES = 1_048_576
"""Bytes of JSON that the record of an ended run keeps of the values of its steps."""

_UPDATE = """
UPDATE toa_run SET seq = seq + 1, steps = %s, waits = %s, watches = %s, wake_at = %s, attempt = %s, error = %s,
       strikes = 0
 WHERE id = %s
"""
_UPDATE_MANY = """
UPDATE toa_run r SET seq = r.seq + 1, steps = n.steps, waits = n.waits, watches = n.watches, wake_at = n.wake_at,
       attempt = 0, error = '', strikes = 0
  FROM jsonb_to_recordset(%s::jsonb) AS n(id uuid, steps integer, waits jsonb, watches jsonb, wake_at timestamptz)
 WHERE r.id = n.id
"""
_FORGET_MANY = """
DELETE FROM toa_runstep s USING jsonb_to_recordset(%s::jsonb) AS n(run uuid, position integer)
 WHERE s.run = n.run AND s.position = n.position
"""
_PARK = """
UPDATE toa_run SET seq = seq + 1, wake_at = NULL, failed_at = %s, attempt = 0, error = '', strikes = 0, steps = %s,
       waits = %s, watches = %s
 WHERE id = %s
"""
_WITHDRAW = """
DELETE FROM toa_runcall WHERE id IN (SELECT c.id FROM toa_runcall c WHERE c.run = %s FOR UPDATE SKIP LOCKED)
"""


def write(
    row: Row,
    journal: Journal,
    watches: dict[str, list[int]],
    waits: dict[str, Any] | None,
    wake: int | None,
    error: str = "",
) -> Row:
    """Write what is new of a locked run, and what it waits for; returns it as it is then. `error` is what its step
    ended in, where it is tried again."""
    write_journal(row.id, journal)
    attempt = 0 if waits is None else int(waits.get("attempt", 0))
    moment = None if wake is None else to_datetime(wake)
    run(_UPDATE, [len(journal), json(waits), dumps(watches), moment, attempt, error, row.id])
    return replace(row, seq=row.seq + 1, steps=len(journal), waits=waits, watches=watches, wake=wake, attempt=attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is to be written of a locked run that waits, or could go on, at its first attempt. `wake` is epoch ms."""

    row: Row
    journal: Journal
    watches: dict[str, list[int]]
    waits: dict[str, Any] | None
    wake: int | None

    def after(self) -> Row:
        """The run as it is then."""
        row, steps = self.row, len(self.journal)
        return replace(
            row, seq=row.seq + 1, steps=steps, waits=self.waits, watches=self.watches, wake=self.wake, attempt=0
        )


def write_many(all_of_them: Sequence[Written]) -> None:
    """Write what is new of several locked runs, and what they wait for."""
    gone, steps, waiting = [], [], []
    for one in all_of_them:
        identity = one.row.id
        written = one.journal.written()
        positions = one.journal.removed() + [position for position, _, stored in written if stored]
        gone += [{"run": identity, "position": position} for position in positions]
        steps += [step_row(identity, position, entry) for position, entry, _ in written]
        waiting.append(
            {
                "id": identity,
                "steps": len(one.journal),
                "waits": one.waits,
                "watches": one.watches,
                "wake_at": None if one.wake is None else moment_text(one.wake),
            }
        )
    if gone:
        run(_FORGET_MANY, [document(gone)])
    insert_rows("toa_runstep", steps)
    if waiting:
        run(_UPDATE_MANY, [document(waiting)])


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
    remove_many([(row, record_of(row, journal, outcome, result, error, now))])


def record_of(
    row: Row, journal: Sequence[tuple[int, Entry]], outcome: Outcome, result: Any, error: str, now: int
) -> dict[str, Any]:
    """The record of an ended run as a row of its table."""
    return {
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


def remove_many(ended: Sequence[tuple[Row, dict[str, Any]]]) -> None:
    """Take locked runs away, and keep their records."""
    if not ended:
        return
    insert_rows("toa_endedrun", [record for _, record in ended])
    stepped = [row.id for row, _ in ended if row.steps]
    if stepped:
        run("DELETE FROM toa_runstep WHERE run = ANY(%s::uuid[])", [array(stepped)])
    run("DELETE FROM toa_run WHERE id = ANY(%s::uuid[])", [array(row.id for row, _ in ended)])


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


def count_strike(row: Row) -> None:
    """Add a strike to a locked run. What it commits takes all of them away."""
    run("UPDATE toa_run SET strikes = strikes + 1 WHERE id = %s", [row.id])


def json(value: Any) -> str | None:
    """A value as a parameter of a nullable column of JSON."""
    return None if value is None else dumps(value)
