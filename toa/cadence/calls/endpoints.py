"""Which endpoints have calls stored: a loose scan of the claiming index, one probe for each endpoint, however many
rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connections

from toa.cadence.calls.live import Kind
from toa.runtime import settings

MOST = 10_000
"""Endpoints of one table that are looked at; far more than any code has."""

# From the last to the first: at the head of an endpoint's part of the index lie the dead entries of what was made.
_EACH = """
SELECT found.endpoint, (SELECT c.wake_at FROM {table} c
                         WHERE c.endpoint = found.endpoint AND c.wake_at IS NOT NULL
                         ORDER BY c.wake_at, c.id LIMIT 1) AS oldest
  FROM (WITH RECURSIVE step(endpoint) AS (
          (SELECT c.endpoint FROM {table} c ORDER BY c.endpoint DESC, c.wake_at DESC, c.id DESC LIMIT 1)
          UNION ALL
          SELECT (SELECT c.endpoint FROM {table} c WHERE c.endpoint < step.endpoint
                   ORDER BY c.endpoint DESC, c.wake_at DESC, c.id DESC LIMIT 1)
            FROM step WHERE step.endpoint IS NOT NULL
        ) SELECT endpoint FROM step WHERE endpoint IS NOT NULL LIMIT {most}) AS found
"""


def stored(kind: Kind) -> list[str]:
    """Every endpoint that a table of stored calls holds a call of."""
    return [endpoint for endpoint, _ in _read(_EACH.format(table=kind.table, most=MOST), [])]


def unknown(kind: Kind, known: Sequence[str]) -> list[tuple[str, datetime]]:
    """The endpoints of a table that are none of the known ones, each with the moment that its oldest call woke or
    will wake. Those of which every call is parked are left out: somebody has to decide about those anyway."""
    sql = (
        f"SELECT s.endpoint, s.oldest FROM ({_EACH.format(table=kind.table, most=MOST)}) AS s"
        " WHERE s.endpoint <> ALL(%s::text[]) AND s.oldest IS NOT NULL ORDER BY s.endpoint"
    )
    return _read(sql, [list(known)])


def _read(sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())
