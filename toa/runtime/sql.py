"""Small pieces of SQL that several modules share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from django.apps import apps
from django.db import connections
from psycopg.types.json import Jsonb

from toa.core.clock import to_datetime
from toa.core.identity import plain
from toa.runtime import settings
from toa.runtime.sending import run

MOMENT = "CASE WHEN isfinite({column}) THEN floor(extract(epoch FROM {column}) * 1000)::bigint END"
"""A column of moments as epoch ms, cut to whole ms: made by the database, which is faster than reading a datetime. An
infinite one, which only SQL can have written, is no moment: null."""
HEX = "replace({column}::text, '-', '')"
"""A column of UUIDs as 32 hex digits."""
ROWS = 5_000
"""How many rows one statement inserts; longer lists are written in several."""


def insert_rows(table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of one of toa's own tables by one statement. Each maps the same columns, in the same order.

    They travel as one JSON document: with a parameter for each value, making the statement costs more than running it.
    """
    if not rows:
        return
    names = tuple(rows[0])
    columns = ", ".join(names)
    sql = (
        f"INSERT INTO {table} ({columns})"
        f" SELECT {columns} FROM jsonb_to_recordset(%s::jsonb) AS r({_record(table, names)})"
    )
    for start in range(0, len(rows), ROWS):
        run(sql, [document(rows[start : start + ROWS])])


@lru_cache(maxsize=4_096)
def moment_text(moment: int) -> str:
    """A moment in epoch ms as the text of a timestamptz. Many rows of one statement have the same."""
    return to_datetime(moment).isoformat()


def array(values: Iterable[object]) -> str:
    """Values that need no quotes (ids, numbers, moments as ISO text) as the text of an array, to be cast by the
    statement: one parameter, made at once."""
    return f"{{{','.join(map(str, values))}}}"


@cache
def _record(table: str, names: tuple[str, ...]) -> str:
    """Names and types of columns, as SQL."""
    connection = connections[settings.alias()]
    model = next(model for model in apps.get_app_config("toa").get_models() if model._meta.db_table == table)
    types = {field.column: field.db_type(connection) for field in model._meta.concrete_fields}
    return ", ".join(f"{name} {types[name]}" for name in names)


def document(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as the text of one JSON array, for `jsonb_to_recordset`."""
    return json.dumps(rows, default=_json, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.obj if isinstance(value, Jsonb) else plain(value)
