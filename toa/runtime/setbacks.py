"""What sweeps remember of objects that failed: a line of history for each, so that these go last the next time.

There is one line for one object and one sweep. It counts how often the object failed within a day; after a day without
a failure it stays as it is, and the object counts as any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connections, transaction

from toa.core.clock import to_datetime
from toa.core.duration import DAY_MS
from toa.core.identity import digest
from toa.models import Outcome
from toa.runtime import settings
from toa.runtime.journal import Settled, write_history
from toa.runtime.sql import MOMENT, array
from toa.runtime.table import jsonb

SOURCE = "sweep"
"""Of these lines of history."""
REMEMBERED_MS = DAY_MS
"""How long a failure puts its object behind the others."""

_KNOWN = f"""
SELECT call, max({MOMENT.format(column="at")}) FROM toa_history
 WHERE call = ANY(%s::uuid[]) AND source = '{SOURCE}' AND at > %s GROUP BY call
"""
_AGAIN = f"""
UPDATE toa_history SET count = count + 1, at = %s, due_at = %s, lateness_ms = %s, code = %s, cause = %s
 WHERE call = %s AND source = '{SOURCE}' AND at > %s
"""


def name_of(endpoint: str, entity: str) -> UUID:
    """Under which name an object (`component:id`) stands in the history of a sweep."""
    return UUID(hex=digest(SOURCE, endpoint, entity)[:32])


def known(names: Iterable[UUID], now: int) -> dict[UUID, int]:
    """Which of them failed within a day, and when they last did, in epoch ms. One statement."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_KNOWN, [array(names), to_datetime(now - REMEMBERED_MS)])
        return dict(cursor.fetchall())


def remember(endpoint: str, entity: str, error: str, *, due: int, now: int, cause: dict[str, Any] | None) -> None:
    """Write down that an object failed, in a transaction of its own."""
    name = name_of(endpoint, entity)
    moment = to_datetime(now)
    again: list[Any] = [
        moment,
        to_datetime(due),
        max(0, now - due),
        error[:200],
        None if cause is None else jsonb(cause),
        name,
    ]
    line = Settled(
        call=name,
        source=SOURCE,
        endpoint=endpoint,
        entity=entity,
        outcome=Outcome.FAILED,
        code=error,
        due=due,
        at=now,
        started=now,
        cause=cause,
    )
    with transaction.atomic(using=settings.alias()):
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(_AGAIN, [*again, to_datetime(now - REMEMBERED_MS)])
            if cursor.rowcount:
                return
        write_history([line])
