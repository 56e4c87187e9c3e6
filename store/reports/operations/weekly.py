from decimal import Decimal
from typing import Any

from store.reports.types import AssignArguments, EffectContext, WeeklyInput
from store.reports.weeks import week_before

PAGE = 1000


def effect(input: WeeklyInput, context: EffectContext) -> dict[str, Any]:
    """Report on the week before `at`, the moment the report was due, however late it is made.

    A second report on the same week, after a crash or by hand, takes the place of the first.
    """
    week, begins, ends = week_before(input.at)
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
    context.local.assign(figures, {"id": week})
    return {"week": week, **figures}


def _orders(context: EffectContext, begins: int, ends: int) -> Any:
    # Nothing is placed any more in a week that is over: pages by number stay what they are.
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
