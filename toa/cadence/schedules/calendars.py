"""The calendar of a stored schedule: from which moment it counts, what comes next, and what of it is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connections

from toa.core.clock import to_datetime, to_moment
from toa.core.cron import parse_cron
from toa.core.owing import Owed, Policy, jittered
from toa.core.recurrence import Missed
from toa.core.recurrence import Schedule as Recurrence
from toa.core.zones import offset_at
from toa.exceptions import InvalidSchedule, InvalidZone
from toa.models import Outcome, Schedule
from toa.runtime import settings
from toa.runtime.journal import Settled, write_history

_DROP = """
DELETE FROM toa_scheduledcall WHERE schedule = %s AND token IS NULL
RETURNING id, endpoint, entity, due_at, attempt, cause
"""


def recurrence_of(row: Schedule) -> Recurrence:
    """The occurrences of a schedule. Raises InvalidSchedule or InvalidZone where it can be read no more."""
    return Recurrence(row.expression, row.zone, gap=row.gap, fold=row.fold)  # type: ignore[arg-type]


def policy_of(row: Schedule) -> Policy:
    """What a schedule does about lateness."""
    return Policy(
        overdue_ms=row.overdue_ms,
        catch_up=row.catch_up,
        each_max=row.each_max,
        each_window_ms=row.each_window_ms,
        jitter_ms=row.jitter_ms,
        seed=f"{row.endpoint}#{row.name}",
    )


def entity_of(identity: UUID) -> str:
    """How the history names a schedule."""
    return f"schedule:{identity.hex}"


def counts_from(row: Schedule) -> int:
    """The moment, epoch ms, strictly after which occurrences are still to be dealt with.

    That is the cursor. Where the rules of the zone were changed since it was set, the local time it stood for may
    come again: a schedule that names hours then counts from there.
    """
    cursor = to_moment(row.cursor)
    shift_s = row.cursor_offset_s - offset_at(row.zone, cursor // 1000)
    return max(cursor, cursor + shift_s * 1000) if shift_s and parse_cron(row.expression).fixed else cursor


def move(row: Schedule, cursor: int) -> None:
    """Count from a moment, epoch ms, with the rules of the zone as they are now."""
    row.cursor = to_datetime(cursor)
    row.cursor_offset_s = offset_at(row.zone, cursor // 1000)


def expect(row: Schedule, due: int | None, wake: int | None) -> None:
    """Set what comes next; nothing does while the schedule is paused or retired."""
    rests = row.paused_at is not None or row.retired_at is not None
    row.due_at = None if due is None or rests else to_datetime(due)
    row.wake_at = None if wake is None or rests else to_datetime(wake)


def start_over(row: Schedule, now: int) -> None:
    """Let the calendar go on strictly after now, and after everything that was dealt with."""
    recurrence = recurrence_of(row)
    cursor = max(counts_from(row), now)
    move(row, cursor)
    due = recurrence.next_after(cursor)
    expect(row, due, None if due is None else jittered(recurrence, policy_of(row), due))


def drop_owed(row: Schedule, now: int, why: str, outcome: Outcome = Outcome.CANCELLED) -> None:
    """Drop what a locked schedule owes: its calls that do not run, and the occurrences up to now. Both are recorded.

    The calendar counts from now afterwards; what comes next is left to the caller.
    """
    lines = _dropped_calls(row, now, why)
    try:
        after = counts_from(row)
        missed = recurrence_of(row).missed(after, now)
    except (InvalidSchedule, InvalidZone):
        # It can be read no more, so nobody knows what it owes; the cursor still does not move back.
        row.cursor = to_datetime(max(to_moment(row.cursor), now))
    else:
        if missed is not None:
            lines.append(passed_over(row, outcome, missed, now, why))
        move(row, max(after, now))
    write_history(lines)


def paused(row: Schedule) -> str:
    """Why a paused schedule does not call, for the history."""
    return f"paused by {row.paused_by}" if row.paused_by else "paused"


def passed_over(row: Schedule, outcome: Outcome, missed: Missed, now: int, why: str) -> Settled:
    """The line of history of occurrences that are not called: the first, the last, how many, and why."""
    span = f"{to_datetime(missed.first):%Y-%m-%d %H:%M:%S}"
    if missed.count > 1:
        span = f"{missed.count} from {span} to {to_datetime(missed.last):%Y-%m-%d %H:%M:%S}"
    return Settled(
        call=row.id,
        source="schedule",
        endpoint=row.endpoint,
        entity=entity_of(row.id),
        outcome=outcome,
        code=f"{why}: {span}",
        due=missed.first,
        at=now,
        count=missed.count,
        cause={"schedule": row.id.hex, "at": missed.first, "last": missed.last},
    )


def swept(row: Schedule, owed: Owed, count: int, now: int, asked_by: str = "") -> Settled:
    """That a sweep was made, and how many objects it found: each has a call and a line of its own."""
    cause = {"schedule": row.id.hex, "at": owed.at}
    return Settled(
        call=row.id,
        source="schedule",
        endpoint=row.endpoint,
        entity=entity_of(row.id),
        outcome=Outcome.MADE,
        code=f"{count} found",
        due=owed.planned,
        at=now,
        cause=cause | {"asked_by": asked_by} if asked_by else cause,
    )


def _dropped_calls(row: Schedule, now: int, why: str) -> list[Settled]:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_DROP, [row.id])
        return [_dropped(row, now, why) for row in cursor.fetchall()]


def _dropped(row: Sequence[Any], now: int, why: str) -> Settled:
    identity, endpoint, entity, due_at, attempt, cause = row
    return Settled(
        call=identity,
        source="schedule",
        endpoint=endpoint,
        entity=entity,
        outcome=Outcome.CANCELLED,
        code=why,
        due=to_moment(due_at),
        at=now,
        attempt=attempt + 1,
        cause=cause,
    )
