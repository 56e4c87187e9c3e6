"""What became of the last call of pulses and schedules, for lists: one query for any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections

from toa.cadence.schedules.calendars import entity_of
from toa.core.clock import to_moment
from toa.models import Pulse, Schedule
from toa.runtime import settings

LOOKED_THROUGH = 300
"""Lines of history of a pulse's endpoint that are looked through for its own: others may call the same operation."""

# In the order of the index by endpoint: in that of time alone, whatever others did lately would be walked over.
_OF_PULSES = f"""
SELECT p.id, h.outcome, h.code, h.at
  FROM unnest(%s::uuid[], %s::text[]) AS p(id, endpoint)
 CROSS JOIN LATERAL (SELECT l.* FROM (SELECT call, outcome, code, at FROM toa_history
                                       WHERE endpoint BETWEEN p.endpoint AND p.endpoint
                                       ORDER BY endpoint DESC, at DESC LIMIT {LOOKED_THROUGH}) l
                      WHERE l.call = p.id LIMIT 1) h
"""
_OF_SCHEDULES = """
SELECT s.id, h.outcome, h.code, h.at
  FROM unnest(%s::uuid[], %s::text[]) AS s(id, entity)
 CROSS JOIN LATERAL (SELECT outcome, code, at FROM toa_history
                      WHERE entity = s.entity ORDER BY at DESC LIMIT 1) h
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last line of history."""

    outcome: str
    code: str
    at: int
    """Epoch ms."""


def last_of_pulses(rows: Sequence[Pulse]) -> None:
    """Set `last` on each: what became of its last call, null where none is known."""
    _set(_OF_PULSES, rows, [row.endpoint for row in rows])


def last_of_schedules(rows: Sequence[Schedule]) -> None:
    """The same of schedules; of a declared sweep, how many it found."""
    _set(_OF_SCHEDULES, rows, [entity_of(row.id) for row in rows])


def _set(sql: str, rows: Sequence[Any], beside: list[str]) -> None:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, [[row.id for row in rows], beside])
        found = {key: Last(outcome=outcome, code=code, at=to_moment(at)) for key, outcome, code, at in cursor}
    for row in rows:
        row.last = found.get(row.id)
