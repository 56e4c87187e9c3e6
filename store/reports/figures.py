"""What was ordered between two moments, put down as one report."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from store.reports.types import AssignArguments, EffectContext

PAGE = 1000


def report(context: EffectContext, name: str, begins: int, ends: int) -> dict[str, Any]:
    """Count the orders placed from `begins` to before `ends` (epoch ms), and put the figures down under a name."""
    placed = cancelled = 0
    total = Decimal("0.00")
    for order in _orders(context, begins, ends):
        placed += 1
        if order.status == "cancelled":
            cancelled += 1
        else:
            total += order.total
    figures: AssignArguments = {
        "begins": begins,
        "ends": ends,
        "placed": placed,
        "cancelled": cancelled,
        "total": str(total),
    }
    context.local.assign(figures, {"id": name})
    return {"report": name, **figures}


def _orders(context: EffectContext, begins: int, ends: int) -> Any:
    # Nothing is placed any more in a time that is over: pages by number stay what they are.
    query = {
        "criteria": f"CREATED>={begins};CREATED<{ends}",
        "sort": "CREATED",
        "projection": "status,total",
        "limit": PAGE,
    }
    offset, page = 0, [None] * PAGE
    while len(page) == PAGE:
        page = context.remote.store.orders.enumerate(query={**query, "offset": offset})
        yield from page
        offset += PAGE
