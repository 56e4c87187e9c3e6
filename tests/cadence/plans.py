"""What PostgreSQL does for a statement: its plan and the pages that it touches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One statement as it was executed."""

    sql: str
    root: dict[str, Any]

    @property
    def buffers(self) -> int:
        """Pages that were looked at."""
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])

    def nodes(self) -> Iterator[dict[str, Any]]:
        """All nodes of the plan."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.get("Plans", [])

    def scanned(self, table: str) -> list[str]:
        """The tables of that name that are read from beginning to end."""
        return [node["Node Type"] for node in self.nodes() if node["Node Type"] == "Seq Scan" and named(node, table)]

    def touched(self, table: str) -> int:
        """Pages that were looked at for one table, whatever others cost."""
        return sum(
            int(node["Shared Hit Blocks"] + node["Shared Read Blocks"]) for node in self.nodes() if named(node, table)
        )

    def indexes(self) -> set[str]:
        """The indexes in use."""
        return {node["Index Name"] for node in self.nodes() if "Index Name" in node}


def named(node: dict[str, Any], table: str) -> bool:
    return bool(node.get("Relation Name") == table)


def emptied(table: str) -> None:
    """Begin with a table and indexes that hold nothing, not even the dead rows that other tests left, which cost pages
    and that no vacuum may have come by for. For tests whose transaction is rolled back."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {table}")


def plans_of(action: Callable[[], object]) -> list[Plan]:
    """The plans of the statements that an action sends. Whatever it changes is rolled back."""
    sent: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append((sql, params))
        return execute(sql, params, many, context)

    with transaction.atomic():
        with connection.execute_wrapper(note):
            action()
        transaction.set_rollback(True)
    return [_explained(sql, params) for sql, params in sent if not sql.startswith(("SAVEPOINT", "RELEASE"))]


def plan_of(action: Callable[[], object]) -> Plan:
    """The plan of the one statement that an action sends."""
    (plan,) = plans_of(action)
    return plan


def _explained(sql: str, params: Any) -> Plan:
    # Twice: the first run may mark dead entries of indexes on its way, and read pages that were not in memory.
    for _ in range(2):
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", params)
                (found,) = cursor.fetchone()
            transaction.set_rollback(True)
    parsed = json.loads(found) if isinstance(found, str) else found
    return Plan(sql=sql, root=parsed[0]["Plan"])
