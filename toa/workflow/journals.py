"""The steps of a run as they are looked at, a page at a time: of one on its way and of one that ended alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connections

from toa.exceptions import InvalidQuery
from toa.models import EndedRun, Run
from toa.runtime import settings
from toa.runtime.table import from_json
from toa.workflow.entries import Answer

PAGE = 100
"""Steps on a page, unless asked otherwise."""
MOST = 1_000
"""Steps on a page at most."""
PAGE_BYTES = 4_194_304
"""Bytes of JSON that the values of a page have together; a page ends before the step that would be too much. One step
is always on it."""
GREATEST_POSITION = 2_147_483_647

# What both kinds of journals are read as: `at` is epoch ms.
_LIVE = """
SELECT position, kind, name, outcome, value, (extract(epoch FROM at) * 1000)::bigint AS at
  FROM toa_runstep WHERE run = %s
"""
_ENDED = """
SELECT (s ->> 'position')::integer AS position, s ->> 'kind' AS kind, s ->> 'name' AS name, s ->> 'outcome' AS outcome,
       NULLIF(s -> 'value', 'null') AS value, (s ->> 'at')::bigint AS at
  FROM toa_endedrun e CROSS JOIN LATERAL jsonb_array_elements(e.steps) AS s WHERE e.id = %s
"""
_PAGE = """
SELECT position, kind, name, outcome, value, at, of FROM (
    SELECT p.*, sum(octet_length(value::text)) OVER w AS filled, row_number() OVER w AS place, count(*) OVER () AS of
      FROM (SELECT * FROM ({journal}) AS j WHERE position > %s ORDER BY position LIMIT %s) AS p
    WINDOW w AS (ORDER BY position)) AS q
 WHERE place = 1 OR (place <= %s AND coalesce(filled, 0) <= %s) ORDER BY position
"""
_LAST = """
SELECT position, kind, name, outcome, left(value::text, %s), at, value ->> 'type', value ->> 'text',
       value ->> 'code', value ->> 'failures', value ->> 'error'
  FROM ({journal}) AS j WHERE position < %s ORDER BY position DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a run. `at` is epoch ms, null for the one that is waited for."""

    position: int
    kind: str
    """now, sleep, call, deadline, retry, back-off, watch or occurrence."""
    name: str
    outcome: str
    """made, error, raised, expired, cancelled; `waits` for the one that is waited for."""
    value: Any
    at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """One step in short. `at` is epoch ms."""

    position: int
    kind: str
    name: str
    outcome: str
    text: str
    """Its value as JSON, cut; empty where it has none."""
    note: str
    """The code of an Error, what was raised, how often a retry failed in a row and at last why; else empty."""
    at: int


def page(run: Run | EndedRun, *, limit: int = PAGE, after: int | None = None) -> tuple[tuple[Step, ...], int | None]:
    """Steps that were done, in order, at most `limit` of them (1 to 1000); and the position that the next page is
    asked for with, null where there is none. `after` is the one from the page before. Raises InvalidQuery."""
    if not 1 <= limit <= MOST:
        raise InvalidQuery(f"a page has 1 to {MOST} steps, not {limit}")
    if after is not None and not 0 <= after <= GREATEST_POSITION:
        raise InvalidQuery(f"after: {after} is no position of a step")
    beyond = -1 if after is None else after
    found = _read(_PAGE, run, [run.pk, beyond, limit + 1, limit, PAGE_BYTES])
    steps = tuple(
        Step(position=position, kind=kind, name=name, outcome=outcome, value=from_json(value), at=at)
        for position, kind, name, outcome, value, at, _ in found
    )
    return steps, steps[-1].position if steps and found[0][-1] > len(steps) else None


def last(run: Run | EndedRun, count: int, *, shown: int, before: int | None = None) -> tuple[Sketch, ...]:
    """The last `count` steps that were done, in order; with `before` the last ones before that position. Of a value
    `shown` characters leave the database: it may have a quarter of a megabyte."""
    until = GREATEST_POSITION if before is None else min(max(before, 0), GREATEST_POSITION)
    found = _read(_LAST, run, [shown, run.pk, until, count])
    return tuple(_sketch(*row) for row in reversed(found))


def _read(sql: str, run: Run | EndedRun, parameters: list[Any]) -> list[Any]:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql.format(journal=_ENDED if isinstance(run, EndedRun) else _LIVE), parameters)
        found: list[Any] = cursor.fetchall()
        return found


def _sketch(
    position: int,
    kind: str,
    name: str,
    outcome: str,
    text: str | None,
    at: int,
    raised: str | None,
    words: str | None,
    code: str | None,
    failures: str | None,
    error: str | None,
) -> Sketch:
    note = code or "" if outcome == Answer.ERROR else ""
    if outcome == Answer.RAISED and raised is not None:
        note = f"{raised.rpartition(':')[2]}: {words}" if words else raised.rpartition(":")[2]
    if kind == "retry" and failures not in (None, "0"):
        note = f"failed {failures} time{'' if failures == '1' else 's'} in a row, the last one with {error}"
    return Sketch(position=position, kind=kind, name=name, outcome=outcome, text=text or "", note=note, at=at)
