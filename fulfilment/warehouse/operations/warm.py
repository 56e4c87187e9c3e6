from fulfilment.warehouse.replies import INVENTORY
from fulfilment.warehouse.types import EffectContext, WarmInput
from shop.outside import connection


def effect(input: WarmInput, context: EffectContext) -> dict[str, bool]:
    """Ask for next to nothing, over the connection that this process keeps: it stays open, or is opened anew.

    Where it cannot be, the pulse's history says so, process by process, before anything is waiting for an answer.
    """
    client = connection.client(context.configuration)
    if client is None:
        return {"warm": False}
    client.get("/inventory", {"limit": 1}, reply=INVENTORY)
    return {"warm": True}
