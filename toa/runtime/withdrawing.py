"""Taking stored calls back, or moving them, in the transaction of whoever decides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connections

from toa.core.clock import to_datetime, to_moment
from toa.exceptions import Busy
from toa.models import Outcome
from toa.runtime import settings
from toa.runtime.journal import Settled
from toa.runtime.table import Lock

_LOCK = "SELECT c.id, c.token FROM toa_delay c WHERE {condition} ORDER BY c.id FOR UPDATE{skip}"
# A leased call is being made: nobody takes it back, and whoever arms its name again arms a second one.
_FORGET_NAME = "UPDATE toa_delay SET name = NULL WHERE id = ANY(%s)"
_DELETE = "DELETE FROM toa_delay WHERE id = ANY(%s) RETURNING id, source, endpoint, due_at, attempt, cause, entity"
_MOVE = """
UPDATE toa_delay d SET due_at = n.due, wake_at = greatest(n.due, %s), attempt = 0, error = ''
  FROM unnest(%s::uuid[], %s::timestamptz[]) AS n(id, due) WHERE d.id = n.id
"""


class Row(NamedTuple):
    """A stored call as it was taken away."""

    id: UUID
    source: str
    endpoint: str
    due: int
    attempt: int
    cause: Any
    entity: str


def withdraw(condition: str, parameters: Sequence[Any], lock: Lock) -> list[Row]:
    """Delete the delays that fit the condition and have not begun, in id order, and return them.

    One that is being made only loses its name. With `Lock.SKIP` nothing is waited for: raises Busy where one of them
    is held by somebody else.
    """
    waiting, leased = _locked(condition, parameters, lock)
    with connections[settings.alias()].cursor() as cursor:
        if leased:
            cursor.execute(_FORGET_NAME, [leased])
        if not waiting:
            return []
        cursor.execute(_DELETE, [waiting])
        return [
            Row(identity, source, endpoint, to_moment(due_at), attempt, cause, entity)
            for identity, source, endpoint, due_at, attempt, cause, entity in cursor.fetchall()
        ]


def withdraw_ids(identities: Sequence[UUID], lock: Lock) -> list[Row]:
    """Delete the delays of these ids that have not begun."""
    return withdraw("c.id = ANY(%s)", [sorted(set(identities))], lock) if identities else []


def move_ids(moments: Mapping[UUID, int], now: int, lock: Lock) -> None:
    """Give delays that have not begun a new moment, epoch ms."""
    waiting, _ = _locked("c.id = ANY(%s)", [sorted(moments)], lock) if moments else ([], [])
    if waiting:
        with connections[settings.alias()].cursor() as cursor:
            due = [to_datetime(moments[identity]) for identity in waiting]
            cursor.execute(_MOVE, [to_datetime(now), waiting, due])


def taken(row: Row, outcome: Outcome, now: int, code: str = "") -> Settled:
    """The line of history of a call that was taken away."""
    return Settled(
        call=row.id,
        source=row.source,
        endpoint=row.endpoint,
        entity=row.entity,
        outcome=outcome,
        code=code,
        due=row.due,
        at=now,
        attempt=row.attempt,
        cause=row.cause,
    )


def _locked(condition: str, parameters: Sequence[Any], lock: Lock) -> tuple[list[UUID], list[UUID]]:
    """Lock the rows; returns the ids of those that wait and of those that are being made."""
    skip = lock is Lock.SKIP
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_LOCK.format(condition=condition, skip=" SKIP LOCKED" if skip else ""), parameters)
        found = cursor.fetchall()
        if skip:
            cursor.execute(f"SELECT count(*) FROM toa_delay c WHERE {condition}", parameters)
            if cursor.fetchone()[0] > len(found):
                raise Busy("a stored call that is to be taken back is held by somebody else")
    return [row[0] for row in found if row[1] is None], [row[0] for row in found if row[1] is not None]
