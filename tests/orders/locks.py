"""Waiting for sessions of the database to wait for one another."""

from __future__ import annotations

import time
from typing import Any

WITHIN_S = 30.0


def wait_until_blocked(connection: Any, *, sessions: int = 1) -> None:
    """Return once so many other sessions wait for locks that this one, or each other, hold."""
    give_up = time.monotonic() + WITHIN_S
    while time.monotonic() < give_up:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND cardinality(pg_blocking_pids(pid)) > 0"
            )
            if cursor.fetchone()[0] >= sessions:
                return
            # Statistics of a transaction stand still until they are cleared.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
    raise AssertionError(f"{sessions} blocked sessions were not seen within {WITHIN_S:g} s")
