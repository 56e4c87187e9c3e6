"""Small pieces of SQL that several modules share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache, partial
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
MANY = 4
"""From so many rows on it pays to look for what they have in common."""


Rows = Sequence[Mapping[str, Any]]


def insert_rows(table: str, rows: Rows, otherwise: Callable[[Rows], None] | None = None) -> None:
    """Insert rows of one of toa's own tables by one statement. Each maps the same columns, in the same order.

    Those that a unique rule keeps out are given to `otherwise`, once the statement was sent; without it they are
    refused with all others.

    One row is written as values. Several travel as one JSON document: with a parameter for each value, making the
    statement costs more than running it. Of many, what is the same in all of them is a parameter after all: reading
    the document is half of what the database does for them.
    """
    for start in range(0, len(rows), ROWS):
        several = rows[start : start + ROWS]
        first = several[0]
        if len(several) < MANY:
            each = tuple(first) if len(several) > 1 else ()
        else:
            each = tuple(name for name in first if _differs(several, name))
        # A null is left out: the column has one by itself.
        shared = tuple(name for name, value in first.items() if value is not None and name not in each)
        statement, are_json = _insertion(table, each, shared)
        if otherwise is not None:
            statement += " ON CONFLICT DO NOTHING RETURNING id"
        values = [
            _as_json(value) if is_json else value
            for value, is_json in zip((first[name] for name in shared), are_json, strict=True)
        ]
        if each:
            values.append(document([{name: row[name] for name in each} for row in several]))
        run(statement, values, None if otherwise is None else partial(_kept_out, several, otherwise))


def _kept_out(rows: Rows, otherwise: Callable[[Rows], None], inserted: Sequence[tuple[Any, ...]]) -> None:
    if len(inserted) < len(rows):
        there = {identity.hex for (identity,) in inserted}
        otherwise([row for row in rows if row["id"] not in there])


def _differs(rows: Rows, name: str) -> bool:
    """Whether rows have different values in a column, as far as a quick look shows. Two things that are equal may be
    different JSON, as 1 and true are: only the same thing, or the same text, is taken for the same."""
    one = rows[0][name]
    return not all((value := row[name]) is one or (type(value) is str and value == one) for row in rows)


@lru_cache(maxsize=4_096)
def moment_text(moment: int) -> str:
    """A moment in epoch ms as the text of a timestamptz. Many rows of one statement have the same."""
    return to_datetime(moment).isoformat()


def array(values: Iterable[object]) -> str:
    """Values that need no quotes (ids, numbers, moments as ISO text) as the text of an array, to be cast by the
    statement: one parameter, made at once."""
    return f"{{{','.join(map(str, values))}}}"


@cache
def _insertion(table: str, each: tuple[str, ...], shared: tuple[str, ...]) -> tuple[str, tuple[bool, ...]]:
    """The statement that inserts rows with columns of their own and shared ones, and which of the shared are JSON.

    Its parameters are the shared values, and the document where there are columns of their own.
    """
    connection = connections[settings.alias()]
    model = next(model for model in apps.get_app_config("toa").get_models() if model._meta.db_table == table)
    types = {field.column: field.db_type(connection) for field in model._meta.concrete_fields}
    into = f"INSERT INTO {table} ({', '.join((*shared, *each))})"
    are_json = tuple(types[name] == "jsonb" for name in shared)
    if not each:
        return f"{into} VALUES ({', '.join(['%s'] * len(shared))})", are_json
    chosen = ", ".join([*(f"%s::{types[name]}" for name in shared), *(f"r.{name}" for name in each)])
    record = ", ".join(f"{name} {types[name]}" for name in each)
    return f"{into} SELECT {chosen} FROM jsonb_to_recordset(%s::jsonb) AS r({record})", are_json


def document(rows: Rows) -> str:
    """Rows as the text of one JSON array, for `jsonb_to_recordset`."""
    return _ENCODER.encode(rows)


def _as_json(value: Any) -> str | None:
    """A value of a column of JSON as its text. What is null there is null in the row."""
    plain_value = value.obj if isinstance(value, Jsonb) else value
    return None if plain_value is None else _ENCODER.encode(plain_value)


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.obj if isinstance(value, Jsonb) else plain(value)


# Made once: `json.dumps` makes another one at each call.
_ENCODER = json.JSONEncoder(default=_json, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
