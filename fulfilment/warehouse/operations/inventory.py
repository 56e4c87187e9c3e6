from typing import Any

from fulfilment.warehouse.replies import INVENTORY
from fulfilment.warehouse.types import EffectContext, InventoryInput
from shop.outside import connection
from shop.outside.problems import BadAnswer
from toa import Error

_WHAT = "GET /inventory"


def effect(input: InventoryInput, context: EffectContext) -> dict[str, Any] | Error:
    """A page of the shelves, as the warehouse tells it. Raises NoAnswer, BadAnswer or NotTaken.

    A page is taken whole or not at all, and only where the pages after it would end some time.
    """
    client = connection.client(context.configuration)
    if client is None:
        return Error("NOT_CONFIGURED")
    page = client.get("/inventory", {"after": input.after, "limit": input.limit}, reply=INVENTORY)
    items, following = page["items"], page["next"]
    if len(items) > input.limit:
        raise BadAnswer(f"{_WHAT}: {len(items)} products where {input.limit} were asked for")
    if following is not None and following <= input.after:
        raise BadAnswer(f"{_WHAT}: its pages do not go on: after {input.after!r} comes {following!r}")
    # A float such as 12.0 is an integer to JSON.
    figures = [{"product": item["product"], "available": int(item["available"])} for item in items]
    return {"items": figures, "next": following}
