"""Small pieces of SQL that several modules share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connections

from toa.runtime import settings

PARAMETERS = 60_000
"""PostgreSQL takes 65,535 parameters in a statement; longer lists are written in several."""


def insert_rows(into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by one statement: `into` is "table (column, …)", one place for each value of a row."""
    if not rows:
        return
    width = len(rows[0])
    places = f"({', '.join(['%s'] * width)})"
    step = max(1, PARAMETERS // width)
    with connections[settings.alias()].cursor() as cursor:
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            cursor.execute(
                f"INSERT INTO {into} VALUES {', '.join([places] * len(part))}",
                [value for row in part for value in row],
            )
