import toa
from store.orders.types import EffectContext, ExpireInput
from toa import Swept

BATCH = 100


def effect(input: ExpireInput, context: EffectContext) -> Swept:
    """Cancel what was not paid by its `pay_by`, oldest first; replies with the counts.

    Each cancellation commits on its own and looks at the order again, so a payment in between wins. What is left
    over, because there was more than a batch or because it failed, is still due at the next boundary.
    """
    return toa.sweep(
        context,
        criteria=f"status==pending;pay_by<{context.now()}",
        sort="pay_by",
        limit=BATCH,
        each=lambda order: context.local.cancel({"reason": "EXPIRED"}, {"id": order.id}),
    )
