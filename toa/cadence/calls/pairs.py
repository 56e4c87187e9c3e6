"""Order within a pair of source entity and receiving component: heads and what follows them.

A delivery whose predecessor is neither made nor about to be made in the same batch is moved out of the way, to where
its predecessor waits: so a claim never walks over a long queue behind one that is held, and nobody else is held back.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connections, transaction

from toa.cadence.calls.live import Live
from toa.core.clock import to_datetime, to_moment
from toa.runtime import settings
from toa.runtime.sql import array

# OFFSET keeps the first a look by the primary key for each, where a join would walk over the table.
_HEADS = """
SELECT c.id, h.id, h.wake_at, h.endpoint FROM unnest(%s::uuid[]) AS f(id)
 CROSS JOIN LATERAL (SELECT d.id, d.source, d.source_id, d.receiver FROM toa_delivery d WHERE d.id = f.id OFFSET 0) c
 CROSS JOIN LATERAL (SELECT b.id, b.wake_at, b.endpoint FROM toa_delivery b
   WHERE b.source = c.source AND b.source_id = c.source_id AND b.receiver = c.receiver
   ORDER BY b.version, b.position LIMIT 1) h
"""
# Whoever decides about a head locks it first and releases its pair afterwards: with the head locked here, nothing is
# parked behind one that was just released.
_LOCK = "SELECT id, wake_at, endpoint FROM toa_delivery WHERE id = ANY(%s) ORDER BY id FOR SHARE SKIP LOCKED"
_MOVE = """
WITH free AS MATERIALIZED (
    SELECT c.id, n.wake FROM unnest(%s::uuid[], %s::timestamptz[]) AS n(id, wake) JOIN toa_delivery c ON c.id = n.id
     ORDER BY c.id FOR UPDATE OF c SKIP LOCKED)
UPDATE toa_delivery c SET wake_at = free.wake FROM free WHERE c.id = free.id
"""
_RELEASE = """
UPDATE toa_delivery c SET wake_at = %s
 WHERE c.source = %s AND c.source_id = %s AND c.receiver = %s AND c.wake_at IS NULL
   AND NOT EXISTS (SELECT 1 FROM toa_failure f WHERE f.call = c.id)
"""


STRANGE_MS = 10_000
"""How long what follows a delivery whose endpoint this code does not know is left alone, in ms."""


def in_turn(found: Sequence[Live], now: int, known: Container[str]) -> list[Live]:
    """Of due deliveries those that may be made now, one after another: heads, and what follows a head in the list.

    The rest is moved to where the head of its pair waits; parked, where that is parked. Behind a head that is for
    none of the `known` endpoints, and so is made by other code or never, it looks again after ten seconds.
    """
    if not found:
        return []
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_HEADS, [array(live.id for live in found)])
        heads = {row[0]: (row[1], _until(row[2], row[3], now, known)) for row in cursor.fetchall()}
    batch = {live.id for live in found}
    blocked = {live.id: heads[live.id][0] for live in found if live.id in heads and heads[live.id][0] not in batch}
    waiting = {identity: head for identity, head in blocked.items() if _waits(heads[identity][1], now)}
    if waiting:
        _move_behind(waiting, now, known)
    return [live for live in found if live.id not in blocked]


def release_pair(source: str, source_id: str, receiver: str, now: int) -> None:
    """Let what parked behind a decided delivery come due, in the open transaction, which has locked that delivery."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_RELEASE, [to_datetime(now), source, source_id, receiver])


def _until(wake: datetime | None, endpoint: str, now: int, known: Container[str]) -> datetime | None:
    """Until when a head waits; null: until somebody decides."""
    if wake is None or endpoint in known:
        return wake
    return max(wake, to_datetime(now + STRANGE_MS))


def _waits(wake: datetime | None, now: int) -> bool:
    return wake is None or to_moment(wake) > now


def _move_behind(waiting: dict[UUID, UUID], now: int, known: Container[str]) -> None:
    with transaction.atomic(using=settings.alias()), connections[settings.alias()].cursor() as cursor:
        cursor.execute(_LOCK, [sorted(set(waiting.values()))])
        locked = {row[0]: _until(row[1], row[2], now, known) for row in cursor.fetchall()}
        still = {identity: wake for identity, wake in locked.items() if _waits(wake, now)}
        moved = [identity for identity in sorted(waiting) if waiting[identity] in still]
        if moved:
            cursor.execute(_MOVE, [moved, [still[waiting[identity]] for identity in moved]])
