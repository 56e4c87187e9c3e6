"""What is fired: rows, and delays that come due on them, written straight into the tables."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from toa.cadence.passes import Collected, run_pass
from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.runtime import bindings, clock
from toa.runtime.sql import insert_rows
from toa.runtime.table import jsonb

METERS = "components.meters"
GAUGES = "components.gauges"
TIMERS = "components.timers"
_ROWS = 1_000


def subjects(component: str, number: int) -> list[str]:
    """Fresh rows at version 1; their ids."""
    table = bindings.component(component).table
    now = clock.clock().now()
    made = []
    for start in range(0, number, _ROWS):
        states = []
        for _ in range(min(_ROWS, number - start)):
            state = table.blank(uuid7().hex)
            state.update(CREATED=now, UPDATED=now, VERSION=1)
            states.append(state)
        table.insert_many(states)
        made += [state["id"] for state in states]
    return made


def arm(endpoint: str, identities: Sequence[str], moments: Sequence[int]) -> None:
    """A delay for each of these ids, at its moment (epoch ms)."""
    now = to_datetime(clock.clock().now())
    rows = [
        {
            "id": uuid7(),
            "endpoint": endpoint,
            "request": jsonb({"query": {"id": identity}, "input": {"by": 1}}),
            "due_at": to_datetime(moment),
            "wake_at": to_datetime(moment),
            "attempt": 0,
            "strikes": 0,
            "chain": [],
            "created_at": now,
            "source": "delay",
            "entity": "",
        }
        for identity, moment in zip(identities, moments, strict=True)
    ]
    insert_rows("toa_delay", rows)


def arm_now(endpoint: str, identities: Sequence[str]) -> None:
    """A delay for each of these ids, due already."""
    now = clock.clock().now()
    arm(endpoint, identities, [now] * len(identities))


def clear() -> None:
    """Empty the tables that the benchmarks fill, and tell the planner."""
    tables = "toa_delay, toa_delivery, toa_history, toa_revision, toa_failure"
    rows = ", ".join(bindings.component(name).table.model._meta.db_table for name in (METERS, GAUGES, TIMERS))
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables}, {rows}")
        cursor.execute("ANALYZE")


def drain() -> None:
    """Make passes in this process until nothing is due."""
    while run_pass(Collected()).settled:
        pass


def set_wise(on: bool) -> None:
    """Fire in sets, or call by call."""
    settings.TOA = {**settings.TOA, "SETWISE": on}
