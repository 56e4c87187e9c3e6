"""What the admin's pages cost in the database, with millions of rows behind them.

    python -m benchmarks looking

Each page is opened as an operator would: whole, by a filter, the next page, a search. The figure is the time of all its
statements together; in the long run the least of three.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, say

DELAYS = 100_000 if QUICK else 5_000_000
HISTORY = 100_000 if QUICK else 2_000_000
ORDERS = 50_000 if QUICK else 1_000_000
OTHERS = 20_000 if QUICK else 300_000
RUNS = 1 if QUICK else 3
MOST_MS = 300.0
"""The most a page may take."""
PLAN_MS = float(os.environ.get("PLAN_MS", MOST_MS))
"""From here on the plan of a page's longest statement is printed to standard error."""

_ENDPOINTS = (
    "(ARRAY['store.orders.cancel','store.orders.expire','fulfilment.stock.reserve','loyalty.deliver',"
    "'store.vouchers.redeem'])[1 + n % 5]"
)
# A thousandth of what is stored is due, the rest comes within a month.
_MOMENT = "now() + (n - {number} / 1000) * (interval '30 days' / {number})"
_ID = "('01930000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"
_ORDER = "'store.orders:' || replace(({id})::text, '-', '')"

_FILL = {
    "toa_delay": (
        DELAYS,
        {"id": _ID, "endpoint": _ENDPOINTS, "due_at": _MOMENT, "wake_at": _MOMENT, "entity": _ORDER, "name": "NULL"},
    ),
    "toa_history": (
        HISTORY,
        {
            "id": _ID,
            "call": _ID,
            "endpoint": _ENDPOINTS,
            "entity": _ORDER,
            "outcome": "CASE WHEN n % 50 = 0 THEN 'refused' ELSE 'made' END",
            "source": "CASE WHEN n % 7 = 0 THEN 'delivery' ELSE 'delay' END",
            "at": "now() - n * interval '1 s'",
        },
    ),
    "toa_delivery": (
        OTHERS,
        {
            "id": _ID,
            "endpoint": _ENDPOINTS,
            "due_at": _MOMENT,
            "wake_at": f"CASE WHEN n % 10 = 0 THEN NULL ELSE {_MOMENT} END",
            "source_id": "to_hex(n)",
        },
    ),
    "toa_failure": (OTHERS, {"id": _ID, "call": _ID, "endpoint": _ENDPOINTS, "at": "now() - n * interval '1 s'"}),
    "toa_revision": (ORDERS, {"id": _ID, "entity": "to_hex(n)", "at": "now() - n * interval '1 s'"}),
    "toa_scheduledcall": (OTHERS, {"id": _ID, "endpoint": _ENDPOINTS, "due_at": _MOMENT, "wake_at": _MOMENT}),
    "store_orders_order": (ORDERS, {"id": _ID, "reference": "'R' || n", "customer": "'c' || n % 1000"}),
    "store_lifecycle_process": (
        ORDERS,
        {"id": _ID, "payment_deadline": _MOMENT, "timeout_at": f"{_MOMENT} + interval '7 days'"},
    ),
}


def main() -> None:
    with database("config.settings"):
        from django.contrib.auth.models import User
        from django.db import connection
        from django.test import Client
        from django.test.utils import setup_test_environment

        setup_test_environment()
        _fill(connection)
        client = Client()
        client.force_login(User.objects.create_superuser("root"))
        for name, address in _pages(client):
            runs = [_statements(connection, lambda at=address: client.get(at)) for _ in range(RUNS)]
            least = min(runs, key=lambda run: sum(ms for ms, _, _ in run))
            taken = sum(ms for ms, _, _ in least)
            say(Figure(name=f"admin: {name}", value=taken, unit="ms", most=MOST_MS))
            if taken > PLAN_MS:
                _explain(connection, *max(least)[1:])


def _pages(client: Any) -> Iterator[tuple[str, str]]:
    identity = "0193000000007000800000000000abcd"
    filters = {
        "delay": (
            "due=overdue",
            "due=hour",
            "component=store.orders",
            "component=store.orders&due=overdue",
            "component=store.orders&due=hour",
            "endpoint=store.orders.cancel",
            "endpoint=store.orders.cancel&due=overdue",
            "endpoint=store.orders.approve",
            f"q={identity}",
            f"q=store.orders:{identity}",
        ),
        "delivery": ("due=overdue", "due=parked", "component=store.orders", f"q={identity}", "q=abc"),
        "history": (
            "outcome=refused",
            "outcome=made",
            "outcome=missed",
            "source=delivery",
            "source=pulse",
            "component=store.orders",
            "component=loyalty",
            "component=store.orders&outcome=refused",
            "endpoint=store.orders.cancel",
            f"q={identity}",
        ),
        "failure": ("component=store.orders", "endpoint=store.orders.cancel", f"q={identity}"),
        "revision": ("q=abc", f"q={identity}"),
        "scheduledcall": ("due=overdue", "component=store.orders", f"q={identity}"),
        "deadline": ("due=overdue", "due=hour", "component=store.lifecycle", f"q={identity}"),
        "pulse": (),
        "schedule": (),
        "component": (),
    }
    tables = {**{f"toa/{name}": asked for name, asked in filters.items()}}
    tables["store_orders/order"] = ("status__exact=pending", f"q={identity}", "q=R77")
    tables["store_lifecycle/process"] = (f"q={identity}",)
    for table, asked in tables.items():
        for query in ("", *asked):
            address = f"/admin/{table}/?{query}"
            yield f"{table} {query}".strip(), address
            content = client.get(address).content.decode()
            found = re.search(r'<a href="\?([^"]*)">Next', content)
            if found is not None and not query.startswith("q="):
                yield f"{table} {query}, next page".replace(" ,", ","), f"/admin/{table}/?{unescape(found[1])}"
    for address in ("/admin/", f"/admin/toa/delay/{identity}/change/"):
        yield address, address


def _statements(connection: Any, act: Callable[[], Any]) -> list[tuple[float, str, Any]]:
    """Its statements, each with the time that it took, in ms."""
    taken: list[tuple[float, str, Any]] = []

    def watch(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, parameters, many, context)
        finally:
            taken.append(((time.perf_counter() - began) * 1000, sql, parameters))

    with connection.execute_wrapper(watch):
        response = act()
    assert response.status_code == 200, (response.status_code, getattr(response, "url", ""))
    return taken


def _explain(connection: Any, sql: str, parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {sql}", parameters)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    print(f"{sql}\n{parameters}\n{plan}\n", file=sys.stderr)


def _fill(connection: Any) -> None:
    """Multiply one row of each table."""
    from benchmarks.load import unindexed

    _templates()
    for table, (number, given) in _FILL.items():
        filled = {name: sql.format(number=number, id=_ID) for name, sql in given.items()}
        with connection.cursor() as cursor, unindexed(table):
            cursor.execute(f"CREATE TEMP TABLE one AS SELECT * FROM {table}; DELETE FROM {table}")
            names = [column.name for column in connection.introspection.get_table_description(cursor, table)]
            chosen = ", ".join(filled.get(name, f'one."{name}"') for name in names)
            columns = ", ".join(f'"{name}"' for name in names)
            cursor.execute(
                f"INSERT INTO {table} ({columns}) SELECT {chosen} FROM one, generate_series(1, {number}) AS n"
            )
            cursor.execute("DROP TABLE one")
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {table}")


def _templates() -> None:
    """One row of each table; calls and failures by hand, objects by their operations."""
    import toa
    from tests.admin import rows
    from toa.runtime import clock

    now = clock.clock().now()
    order = {"reference": "R0", "customer": "c", "product": "P-001", "quantity": 1, "total": "1.00"}
    identity = toa.call("store.orders.create", order)["id"]
    toa.call("store.lifecycle.begin", {"reference": "R0"}, id=identity)
    from toa.models import Delay, Delivery, History, Revision

    for model in (Delay, Delivery, History, Revision):
        model.objects.all().delete()
    for make in (rows.delay, rows.delivery, rows.failure, rows.revision, rows.scheduled_call):
        make(now)
    rows.history(now, request={"input": {"reason": "EXPIRED"}, "query": None})


if __name__ == "__main__":
    main()
