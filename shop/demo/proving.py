"""What must hold when the demo is over, asked of the database in SQL."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection

from shop.demo.house import differences
from shop.demo.world import SWEEP_S

ALARM_BOUND_MS = 5_000
"""No alarm and no deadline may be later than this, a kill and an emptied broker included, on a machine that has
nothing else to do."""
SWEEP_BOUND_MS = ALARM_BOUND_MS + SWEEP_S * 1_000 + 6_000
"""No swept order may be later: on top, a boundary, and the lease of a sweep whose worker was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One thing that must hold, and whether it does."""

    claim: str
    broken: str = ""
    """What was found in its place."""

    def __str__(self) -> str:
        return f"{self.claim} ({self.broken})" if self.broken else self.claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """How late calls of one kind were, in ms."""

    what: str
    calls: int
    p50: float
    p99: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the demo knows beside the database."""

    placed: int
    """Orders that the imports say they placed."""
    paid: Sequence[UUID]
    """Orders whose payment was taken."""
    stock: Path
    """The file of the first stock."""
    shelves: Mapping[str, int]
    """What the warehouse has, where nothing changes any more."""
    drifting: str
    """What the names of the products begin with whose shelves changed by themselves."""
    load: float = 1.0
    """How many processes wanted each core at the worst; where it is more than one, everything takes longer."""


_EXPIRIES = """
SELECT 'alarm' AS how, extract(epoch FROM o.updated_at - h.due_at) * 1000 AS late_ms
  FROM store_orders_order o
  JOIN toa_history h ON h.source = 'delay' AND h.outcome = 'made'
   AND h.entity = 'store.orders:' || replace(o.id::text, '-', '')
 WHERE o.reason = 'EXPIRED' AND o.pay_by IS NULL
UNION ALL
SELECT 'process', extract(epoch FROM o.updated_at - h.due_at) * 1000
  FROM store_orders_order o
  JOIN toa_history h ON h.source = 'deadline' AND h.outcome = 'made' AND h.code = 'payment_deadline'
   AND h.entity = 'store.lifecycle:' || replace(o.id::text, '-', '')
 WHERE o.reason = 'EXPIRED'
UNION ALL
SELECT 'sweep', extract(epoch FROM updated_at - pay_by) * 1000
  FROM store_orders_order WHERE reason = 'EXPIRED' AND pay_by IS NOT NULL
"""
_RELEASES = """
SELECT count(*) FROM (
    SELECT o.id FROM store_orders_order o
      LEFT JOIN toa_history h
        ON h.source = 'delivery' AND h.outcome = 'made' AND h.endpoint = 'fulfilment.stock.release'
       AND h.cause->>'entity' = 'store.orders:' || replace(o.id::text, '-', '')
     GROUP BY o.id HAVING count(h.id) <> (o.status = 'cancelled')::int
) unequal
"""
_KEPT = """
SELECT count(*) FROM (
    SELECT replace(id::text, '-', '') AS order_id, product, quantity FROM store_orders_order WHERE status = 'approved'
) o FULL JOIN (
    SELECT r.key AS order_id, s.id AS product, r.value::bigint AS quantity
      FROM fulfilment_stock_stock s CROSS JOIN LATERAL jsonb_each_text(s.reserved) r
) k USING (order_id, product, quantity)
WHERE o.order_id IS NULL OR k.order_id IS NULL
"""


def prove(facts: Facts) -> Iterator[Proof]:
    """Each thing that must hold, with what was found where it does not."""
    yield _none(
        f"all {facts.placed} orders of the files are there",
        f"SELECT abs(count(*) - {int(facts.placed)}) FROM store_orders_order",
        "orders too many or too few",
    )
    yield _none(
        "every unpaid order is cancelled, by one change",
        "SELECT count(*) FROM store_orders_order WHERE NOT id = ANY(%s) AND (status <> 'cancelled' OR version <> 2)",
        "unpaid orders are not",
        list(facts.paid),
    )
    yield _none(
        "every cancelled order gave its goods back once, no other order did",
        _RELEASES,
        "orders differ",
    )
    yield _none(
        "no paid order is cancelled as EXPIRED",
        "SELECT count(*) FROM store_orders_order WHERE id = ANY(%s)"
        " AND NOT (status = 'approved' OR (status = 'cancelled' AND reason = 'OUT_OF_STOCK'))",
        "paid orders are",
        list(facts.paid),
    )
    yield _none(
        "none was cancelled before its moment", f"SELECT count(*) FROM ({_EXPIRIES}) e WHERE late_ms < 0", "were"
    )
    slower = max(1.0, facts.load)
    because = f", on a machine with {slower:.1f} processes for each core" if slower > 1 else ""
    for how, least_ms in (("alarm", ALARM_BOUND_MS), ("process", ALARM_BOUND_MS), ("sweep", SWEEP_BOUND_MS)):
        bound_ms = round(least_ms * slower)
        yield _none(
            f"each {how} came within {bound_ms / 1000:.0f} s{because}",
            f"SELECT count(*) FROM ({_EXPIRIES}) e WHERE how = '{how}' AND late_ms > {bound_ms}",
            "were later",
        )
    yield from _stock(facts)
    yield _none(
        "each order under a process was cancelled by its deadline, once, or the process has nothing due",
        "SELECT count(*) FROM store_lifecycle_process p JOIN store_orders_order o ON o.id = p.id"
        " WHERE p.payment_deadline IS NOT NULL OR (p.clock_state = 'closed') <> (o.status = 'cancelled')",
        "processes differ",
    )
    yield _none(
        "no call is pending and none failed",
        "SELECT (SELECT count(*) FROM toa_delay) + (SELECT count(*) FROM toa_delivery)"
        " + (SELECT count(*) FROM toa_failure)"
        " + (SELECT count(*) FROM toa_history WHERE outcome IN ('failed', 'expired'))",
        "are pending or failed",
    )


def _stock(facts: Facts) -> Iterator[Proof]:
    with facts.stock.open(newline="") as file:
        first = {row["product"]: int(row["available"]) for row in csv.DictReader(file)}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id, s.available + coalesce((SELECT sum(value::bigint) FROM jsonb_each_text(s.reserved)), 0)"
            " FROM fulfilment_stock_stock s"
        )
        now = {product: int(units) for product, units in cursor.fetchall()}
    wrong = [
        f"{product} {first.get(product, 0)}, now {now.get(product, 0)}"
        for product in {*first, *now}
        if first.get(product) != now.get(product) and not product.startswith(facts.drifting)
    ]
    quiet = sum(not product.startswith(facts.drifting) for product in first)
    yield Proof(claim=f"stock of {quiet} products is conserved to the unit", broken="; ".join(sorted(wrong)))
    yield Proof(
        claim=f"the figures of all {len(facts.shelves)} products are what the warehouse has",
        broken="; ".join(map(str, differences(facts.shelves))),
    )
    yield _none("goods are kept for paid orders, for each its quantity, and for no other", _KEPT, "orders differ")


def lateness() -> list[Lateness]:
    """How late what came due was, by kind: alarms and sends, events, and swept orders from their moment on."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT what, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY late_ms),"
            f" percentile_cont(0.99) WITHIN GROUP (ORDER BY late_ms), max(late_ms) FROM ("
            f" SELECT CASE source WHEN 'delay' THEN 'alarm' WHEN 'delivery' THEN 'event' ELSE source END AS what,"
            f"        lateness_ms::float AS late_ms"
            f"   FROM toa_history WHERE source <> 'pulse' AND outcome IN ('made', 'refused')"
            f" UNION ALL SELECT 'swept order', late_ms::float FROM ({_EXPIRIES}) e WHERE how = 'sweep') late"
            f" GROUP BY what ORDER BY what"
        )
        return [
            Lateness(what=what, calls=calls, p50=p50, p99=p99, most=most)
            for what, calls, p50, p99, most in cursor.fetchall()
        ]


def _none(claim: str, query: str, otherwise: str, *parameters: Any) -> Proof:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        count = cursor.fetchone()[0]
    return Proof(claim=claim, broken=f"{count} {otherwise}" if count else "")
