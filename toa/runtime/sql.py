"""Small pieces of SQL that several modules share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connections

from toa.runtime import settings

PARAMETERS = 60_000
"""PostgreSQL takes 65,535 parameters in a statement; longer lists are written in several."""


def insert_rows(table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows by one statement. Each maps the same columns, in the same order, to parameters."""
    if not rows:
        return
    columns = list(rows[0])
    places = f"({', '.join(['%s'] * len(columns))})"
    step = max(1, PARAMETERS // len(columns))
    with connections[settings.alias()].cursor() as cursor:
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([places] * len(part))}",
                [value for row in part for value in row.values()],
            )
