from store.orders.types import EffectContext, InquireInput
from toa import Error, PreconditionFailed
from toa.typing import Query


def effect(input: InquireInput, context: EffectContext) -> dict[str, str] | Error:
    """Ask the warehouse first, then move the order on: packed where it was picked, else cancelled as STUCK.

    What changed the order after it was asked about wins. Where the warehouse cannot answer, its client's error is
    raised and the order stays as it is.
    """
    order = context.local.observe(query={"id": input.order})
    if order is None or order.status != "approved":
        return Error("NOT_APPROVED")
    reply = context.remote.fulfilment.warehouse.status({"order": order.id})
    if isinstance(reply, Error):
        return Error("NO_WAREHOUSE", reply=reply.code)
    same: Query = {"id": order.id, "version": order.VERSION}
    try:
        if reply.status == "picked":
            moved = context.local.pack(query=same)
        else:
            moved = context.local.cancel({"reason": "STUCK"}, same)
    except PreconditionFailed:
        return Error("CHANGED")
    return moved if isinstance(moved, Error) else {"status": reply.status}
