from store.orders.types import EffectContext, HandOverInput
from toa import Error


def effect(input: HandOverInput, context: EffectContext) -> dict[str, str] | Error:
    """Have the warehouse pick a paid order. Raises what `fulfilment.warehouse.pick` raises.

    It may pick at once, and then the order is packed. It may pick later, or pick and its answer be lost: then nothing
    is heard of the order any more, until `revive` asks.
    """
    order = context.local.observe(query={"id": input.order})
    if order is None or order.status != "approved":
        return Error("NOT_APPROVED")
    goods = {"order": order.id, "product": order.product, "quantity": order.quantity}
    reply = context.remote.fulfilment.warehouse.pick(goods)
    if isinstance(reply, Error):
        return Error("NO_WAREHOUSE", reply=reply.code)
    if reply.status == "picked":
        packed = context.local.pack(query={"id": order.id})
        if isinstance(packed, Error):
            return packed
    return {"status": reply.status}
