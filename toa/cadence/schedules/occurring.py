"""Occurrences that come due: each becomes a stored call in the transaction that moves its schedule's cursor.

So an occurrence is called exactly once, whatever dies in between, and however many processes try: a schedule that
somebody else works on is passed over.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import connections, transaction

from toa.cadence.schedules.calendars import (
    counts_from,
    entity_of,
    expect,
    move,
    passed_over,
    policy_of,
    recurrence_of,
    swept,
)
from toa.cadence.schedules.calls import Running, rows_of, running, store
from toa.cadence.source import BACKSTOP_MS, Dispatch, Hint, Step
from toa.core.clock import to_datetime, to_moment
from toa.core.duration import SECOND_MS
from toa.core.owing import Owed, Owing, owing
from toa.core.recurrence import Missed
from toa.core.traces import sentence
from toa.models import Outcome, Schedule
from toa.runtime import bindings, clock, settings
from toa.runtime.journal import Settled, write_history

logger = logging.getLogger("toa.cadence")

SOURCE = "schedule"
"""The name of the source that runs what is stored here."""
AGAIN_MS = 30 * SECOND_MS
"""When a schedule whose sweep the database could not answer is looked at again, in ms."""

_FIND = """
SELECT d.id, d.swept, {now} FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (
    SELECT s.id, s.wake_at, s.query IS NOT NULL AS swept FROM toa_schedule s
     WHERE s.endpoint = e.endpoint AND s.wake_at <= {now} ORDER BY s.wake_at, s.id LIMIT %s
) d ORDER BY d.wake_at, d.id
"""
_MOVE = """
UPDATE toa_schedule s SET cursor = n.cursor, cursor_offset_s = n.offset_s, due_at = n.due_at, wake_at = n.wake_at
  FROM unnest(%s::uuid[], %s::timestamptz[], %s::int[], %s::timestamptz[], %s::timestamptz[])
    AS n(id, cursor, offset_s, due_at, wake_at)
 WHERE s.id = n.id
"""


def reach(endpoints: Sequence[str], limit: int, dispatch: Dispatch) -> Step:
    """Store the calls of every occurrence that is due, at most `limit` schedules of each endpoint; and give a hint for
    each that runs under a lease and waits for nothing, without another look at it."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(find_sql(), [list(endpoints), limit])
        found = cursor.fetchall()
    if not found:
        return Step()
    now = to_moment(found[0][2])
    plain, swept = [row[0] for row in found if not row[1]], [row[0] for row in found if row[1]]
    settled = _reach(plain, now, dispatch) if plain else 0
    # What a sweep finds is read in a transaction of its own, so that a slow or broken one holds up nobody else.
    settled += sum(_reach_alone(identity, now, dispatch) for identity in swept)
    return Step(settled=settled, full=len(found) >= limit, locked=len(found) - settled)


def find_sql() -> str:
    """The statement that finds due schedules; its parameters are endpoints and how many of each."""
    return _FIND.format(now=clock.clock().expression())


def _reach_alone(identity: UUID, now: int, dispatch: Dispatch) -> int:
    try:
        return _reach([identity], now, dispatch)
    except DatabaseError:
        logger.exception("the sweep of schedule %s cannot be read", identity, extra={"action": "sweep_unread"})
        late = Schedule.objects.using(settings.alias()).filter(id=identity, wake_at__lte=to_datetime(now))
        return late.update(wake_at=to_datetime(now + AGAIN_MS))


@dataclass(slots=True)
class _Stored:
    """What a transaction is going to write beside the schedules themselves."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    lines: list[Settled] = field(default_factory=list)
    hints: list[Hint] = field(default_factory=list)


def _reach(identities: Sequence[UUID], now: int, dispatch: Dispatch) -> int:
    stored = _Stored()
    with transaction.atomic(using=settings.alias()):
        due = Schedule.objects.using(settings.alias()).filter(id__in=identities, wake_at__lte=to_datetime(now))
        rows = list(due.select_for_update(skip_locked=True, no_key=True).order_by("wake_at", "id"))
        made = running([row.id for row in rows])
        for row in rows:
            _occur(row, made.get(row.id, Running()), now, stored)
        _save(rows)
        store(stored.calls)
        write_history(stored.lines)
    for hint in stored.hints:
        dispatch.hint(hint)
    return len(rows)


def _occur(row: Schedule, made: Running, now: int, stored: _Stored) -> None:
    """Bring a locked schedule up to now: its calls and its lines of history, and where it goes on."""
    try:
        after = counts_from(row)
        found = owing(recurrence_of(row), policy_of(row), after=after, now=now, on_time_ms=BACKSTOP_MS)
        allowed, skipped = _allowed(row, found, made)
        rows = [one for owed in allowed for one in rows_of(row, owed, now, made_up=found.making_up)]
        leased = row.query is None and not bindings.operation(row.endpoint).writes
    except DatabaseError:
        raise
    except Exception as error:
        # Its declaration and the code do not fit. It rests until a sync brings it what fits.
        logger.exception("the schedule %s cannot go on", row, extra={"action": "schedule_broken"})
        stored.lines.append(_broken(row, error, now))
        row.due_at = row.wake_at = None
        return
    stored.calls += rows
    if rows and leased and (not made.occurrences or rows[0]["beside"]):
        # As any leased call that was hinted: it is looked at again in a second, should the hint be lost.
        rows[0]["wake_at"] = to_datetime(now + BACKSTOP_MS)
        stored.hints.append(Hint(SOURCE, row.endpoint))
    for outcome, missed, why in (
        (Outcome.EXPIRED, found.expired, "overdue"),
        (Outcome.MISSED, found.missed, f"catch_up: {row.catch_up}"),
        (Outcome.SKIPPED, skipped, f"overlap: {row.overlap}"),
    ):
        if missed is not None:
            stored.lines.append(passed_over(row, outcome, missed, now, why))
    if row.query is not None:
        stored.lines += [swept(row, owed, _found(rows, owed), now) for owed in allowed]
    move(row, max(found.cursor, after))
    expect(row, found.due, found.wake)


def _allowed(row: Schedule, found: Owing, made: Running) -> tuple[tuple[Owed, ...], Missed | None]:
    """The calls that may be stored beside what is being made already, and those that `overlap` skips."""
    if not found.calls or not made.occurrences or row.overlap == "allow":
        return found.calls, None
    # Those that make up for missed ones are never skipped, nor what comes due while they are being worked off.
    if row.catch_up == "each" and (found.making_up or made.making_up):
        return found.calls, None
    if row.overlap == "buffer" and made.occurrences == 1:
        return found.calls, None
    first, last = found.calls[0], found.calls[-1]
    count = sum(max(1, owed.missed) for owed in found.calls)
    return (), Missed(first=first.at, last=last.last, count=count)


def _save(rows: Sequence[Schedule]) -> None:
    if rows:
        columns = [
            [row.id for row in rows],
            [row.cursor for row in rows],
            [row.cursor_offset_s for row in rows],
            [row.due_at for row in rows],
            [row.wake_at for row in rows],
        ]
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(_MOVE, columns)


def _found(rows: Sequence[dict[str, Any]], owed: Owed) -> int:
    """How many of the rows are of that occurrence."""
    return sum(row["at"] == to_datetime(owed.at) for row in rows)


def _broken(row: Schedule, error: Exception, now: int) -> Settled:
    return Settled(
        call=row.id,
        source="schedule",
        endpoint=row.endpoint,
        entity=entity_of(row.id),
        outcome=Outcome.FAILED,
        code=sentence(error),
        due=now if row.due_at is None else to_moment(row.due_at),
        at=now,
        cause={"schedule": row.id.hex},
    )
