"""A claim of deadlines without its index would read the whole table at each look: it is refused instead.

In a rolling deploy code may run before its migration did. What is due then waits until the index is there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import connections

from toa.cadence.serving import looks
from toa.models.schedule_indexes import due_index_name, held_index_name
from toa.runtime import settings
from toa.runtime.bindings import Component

logger = logging.getLogger("toa.cadence")

AGAIN_S = 30.0
"""How long an answer holds, in seconds."""

_FOUND = """
SELECT n.name, i.indexrelid IS NOT NULL, coalesce(i.indisvalid AND i.indisready, false)
  FROM unnest(%s::text[], %s::text[]) AS n(relation, name)
  LEFT JOIN pg_class c ON c.relname = n.name AND c.relkind = 'i'
  LEFT JOIN pg_index i ON i.indexrelid = c.oid AND i.indrelid = to_regclass(n.relation)
 WHERE to_regclass(n.relation) IS NOT NULL
"""


@dataclass(slots=True)
class _Known:
    """What the database said last."""

    at: float | None = None
    lacking: dict[str, str] = field(default_factory=dict)


_known = _Known()


def indexed(components: Iterable[Component]) -> list[Component]:
    """The components whose deadlines may be looked for: in a process that looks for everybody, those with their
    indexes. The others are left out and logged, and asked for again half a minute later."""
    found = list(components)
    if not looks():
        return found
    if _known.at is None or time.monotonic() - _known.at >= AGAIN_S:
        _known.lacking, _known.at = lacking(found), time.monotonic()
        for locator, why in _known.lacking.items():
            logger.error("the deadlines of %s wait: %s", locator, why, extra={"action": "unindexed"})
    return [one for one in found if one.locator not in _known.lacking]


def forget() -> None:
    """Ask the database again at the next look."""
    _known.at = None


def lacking(components: Iterable[Component]) -> dict[str, str]:
    """The components with a table that lacks an index of its deadlines, by locator, and what is wrong with it."""
    tables: list[str] = []
    names: list[str] = []
    owner: dict[str, str] = {}
    quote = connections[settings.alias()].ops.quote_name
    for component in components:
        for name in (due_index_name(component.spec), held_index_name(component.spec)):
            tables.append(quote(component.table.model._meta.db_table))
            names.append(name)
            owner[name] = component.locator
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_FOUND, [tables, names])
        rows = cursor.fetchall()
    return {
        owner[name]: f"the index {name} {'is not valid' if there else 'is missing'}"
        for name, there, whole in rows
        if not whole
    }
