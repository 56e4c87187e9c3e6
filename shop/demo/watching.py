"""What happens in the demo, read from the database as it is written there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

LOOK_BACK = timedelta(seconds=2)
"""A transaction that was open for less than this when we looked is still seen by a later look."""

_HISTORY = """
SELECT h.id, h.at, h.source, h.endpoint, h.outcome, h.code, h.due_at, h.lateness_ms, h.count, h.entity,
       o.reference, o.reason
  FROM toa_history h
  LEFT JOIN store_orders_order o ON o.id = substring(
            CASE WHEN h.entity LIKE 'store.%%' THEN h.entity ELSE h.cause->>'entity' END,
            '^store[.](?:orders|lifecycle|payments):([0-9a-f]+)$'
       )::uuid
 WHERE h.at >= %s
 ORDER BY h.at, h.id
"""
_STANDING = """
SELECT count(*), count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'approved'),
       count(*) FILTER (WHERE reason = 'EXPIRED'), count(*) FILTER (WHERE reason = 'OUT_OF_STOCK'),
       (SELECT count(*) FROM toa_delay), (SELECT count(*) FROM toa_delivery),
       (SELECT count(*) FROM toa_delay WHERE due_at <= statement_timestamp())
       + (SELECT count(*) FROM toa_delivery WHERE due_at <= statement_timestamp())
       + count(*) FILTER (WHERE status = 'pending' AND pay_by <= statement_timestamp())
       + (SELECT count(*) FROM store_lifecycle_process WHERE payment_deadline <= statement_timestamp())
  FROM store_orders_order
"""
_SWEPT = {
    "store.orders.expire": "overdue orders",
    "store.orders.revive": "silent orders",
    "fulfilment.stock.sync": "the warehouse",
}
"""Whom a sweep is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A call that came due and was settled."""

    at: datetime
    what: str
    """alarm, send, event, deadline or sweep."""
    endpoint: str
    outcome: str
    due: datetime
    lateness_ms: int
    whom: str
    did: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How many there are of what, now."""

    orders: int
    pending: int
    approved: int
    expired: int
    out_of_stock: int
    delays: int
    deliveries: int
    due: int
    """Calls and orders whose moment has passed and that are not handled yet."""

    @property
    def at_rest(self) -> bool:
        """Whether nothing is to come any more."""
        return not (self.pending or self.delays or self.deliveries)


class Watcher:
    """Reads what is new since it last looked."""

    def __init__(self) -> None:
        self._seen: set[UUID] = set()
        self._since = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

    def news(self) -> list[Happening]:
        """What was settled since the last look, in the order in which it was."""
        with connection.cursor() as cursor:
            cursor.execute(_HISTORY, [self._since])
            rows = cursor.fetchall()
        new = [row for row in rows if row[0] not in self._seen]
        if rows:
            self._since = max(self._since, rows[-1][1] - LOOK_BACK)
        self._seen = {row[0] for row in rows}
        return list(_happenings(new))

    def standing(self) -> Standing:
        """The counts as they are now."""
        with connection.cursor() as cursor:
            cursor.execute(_STANDING)
            names = ("orders", "pending", "approved", "expired", "out_of_stock", "delays", "deliveries", "due")
            return Standing(**dict(zip(names, cursor.fetchone(), strict=True)))


def _happenings(rows: list[tuple[Any, ...]]) -> Iterator[Happening]:
    for _, at, source, endpoint, outcome, code, due, lateness_ms, count, entity, reference, reason in rows:
        target = entity.partition(":")[2] if entity.startswith("fulfilment.") else ""
        yield Happening(
            at=at,
            what={"delay": "alarm", "delivery": "event", "pulse": "sweep"}.get(source, source),
            endpoint=endpoint,
            outcome=outcome,
            due=due,
            lateness_ms=lateness_ms,
            whom=" ".join(part for part in (reference, target) if part) or _SWEPT.get(endpoint, endpoint),
            did=_did(source, endpoint, outcome, code, reason, count, entity),
        )


def _did(source: str, endpoint: str, outcome: str, code: str, reason: str | None, count: int, entity: str) -> str:
    """What a call did, in words."""
    if outcome == "refused":
        return f"refused: {code}"
    if outcome == "cancelled":
        return "taken back: the order was paid"
    if source == "pulse" and outcome != "made":
        return f"{count} boundaries {outcome}"
    if outcome != "made":
        return f"{outcome} {code}".strip()
    match endpoint:
        case "store.orders.cancel":
            # What the stock sends names the product in its history, not the order.
            return f"order cancelled: {'OUT_OF_STOCK' if entity.startswith('fulfilment.') else reason}"
        case "store.lifecycle.begin":
            return "process begun"
        case "store.lifecycle.lapse":
            return "payment deadline reached"
        case "store.lifecycle.settle":
            return "deadline cleared: the order was paid"
        case "store.lifecycle.finish":
            return "process over"
        case "store.orders.expire":
            return "unpaid orders cancelled"
        case "fulfilment.stock.sync":
            return f"figures compared with the warehouse: {code}"
        case "fulfilment.stock.reserve":
            return "goods asked for"
        case "fulfilment.stock.release":
            return "goods given back"
        case "loyalty.earn":
            return "points earned"
    return outcome
