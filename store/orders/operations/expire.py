from store.orders.types import EffectContext, ExpireInput
from toa import Error
from toa.exceptions import LeaseLost

BATCH = 100


def effect(input: ExpireInput, context: EffectContext) -> dict[str, int]:
    """Cancel what was not paid by its `pay_by`, oldest first; replies with the counts.

    Each cancellation commits on its own and looks at the order again, so a payment in between wins. What is left
    over, because there was more than a batch or because it failed, is still due at the next boundary.
    """
    overdue = context.local.enumerate(
        query={
            "criteria": f"status==pending;pay_by<{context.now()}",
            "sort": "pay_by",
            "limit": BATCH,
            "projection": "id",
        }
    )
    counts = {"cancelled": 0, "refused": 0, "failed": 0}
    for order in overdue:
        try:
            reply = context.local.cancel({"reason": "EXPIRED"}, {"id": order.id})
        except LeaseLost:
            # Another process has taken the sweep over.
            raise
        except Exception:
            # One order that cannot be cancelled must not keep the others waiting.
            context.logger.exception("order %s could not be cancelled", order.id)
            counts["failed"] += 1
        else:
            counts["refused" if isinstance(reply, Error) else "cancelled"] += 1
    return counts
