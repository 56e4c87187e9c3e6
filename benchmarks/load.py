"""What is fired: rows, and delays that come due on them, written straight into the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from toa.cadence.passes import Collected, run_pass
from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.runtime import bindings, clock

METERS = "components.meters"
GAUGES = "components.gauges"
TIMERS = "components.timers"

_ARM = """
INSERT INTO toa_delay (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at, source, entity)
SELECT id, %s, jsonb_build_object('query', jsonb_build_object('id', subject), 'input', jsonb_build_object('by', 1)),
       due_at, due_at, 0, 0, '{}', now(), 'delay', ''
  FROM unnest(%s::uuid[], %s::text[], %s::timestamptz[]) AS n(id, subject, due_at)
"""


def subjects(component: str, number: int) -> list[str]:
    """Fresh rows at version 1; their ids."""
    table = bindings.component(component).table
    now = clock.clock().now()
    state = table.blank(uuid7().hex)
    state.update(CREATED=now, UPDATED=now, VERSION=1)
    table.insert_many([state])
    ids = [uuid7() for _ in range(number - 1)]
    name = table.model._meta.db_table
    columns = ", ".join(f'"{field.column}"' for field in table.model._meta.concrete_fields if not field.primary_key)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {name} (id, {columns}) SELECT n.id, {columns} FROM {name} AS one, unnest(%s::uuid[]) AS n(id)"
            " WHERE one.id = %s",
            [ids, state["id"]],
        )
    return [state["id"], *(identity.hex for identity in ids)]


def arm(endpoint: str, identities: Sequence[str], moments: Sequence[int]) -> None:
    """A delay for each of these ids, at its moment (epoch ms). Their own ids rise in this order."""
    due = [to_datetime(moment) for moment in moments]
    with connection.cursor() as cursor:
        cursor.execute(_ARM, [endpoint, [uuid7() for _ in identities], list(identities), due])


def arm_now(endpoint: str, identities: Sequence[str]) -> None:
    """A delay for each of these ids, due already."""
    now = clock.clock().now()
    arm(endpoint, identities, [now] * len(identities))


@contextmanager
def unindexed(table: str) -> Iterator[None]:
    """Without the indexes that are no constraints: they are quicker made of all rows at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s"
            " AND indexname NOT IN (SELECT conname FROM pg_constraint)",
            [table],
        )
        found = cursor.fetchall()
        for name, _ in found:
            cursor.execute(f'DROP INDEX "{name}"')
        yield
        for _, definition in found:
            cursor.execute(definition)


def clear() -> None:
    """Empty the tables that the benchmarks fill, and tell the planner."""
    tables = "toa_delay, toa_delivery, toa_history, toa_revision, toa_failure"
    rows = ", ".join(bindings.component(name).table.model._meta.db_table for name in (METERS, GAUGES, TIMERS))
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables}, {rows}")
        cursor.execute("ANALYZE")


def drain() -> None:
    """Make passes in this process until nothing is due."""
    while (step := run_pass(Collected())).settled or step.full:
        pass


def set_wise(on: bool) -> None:
    """Fire in sets, or call by call."""
    settings.TOA = {**settings.TOA, "SETWISE": on}
