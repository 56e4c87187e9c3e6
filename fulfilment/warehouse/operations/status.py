from urllib.parse import quote

from fulfilment.warehouse.replies import STATUS
from fulfilment.warehouse.types import EffectContext, StatusInput
from shop.outside import connection
from shop.outside.problems import BadAnswer
from toa import Error


def effect(input: StatusInput, context: EffectContext) -> dict[str, str] | Error:
    """What became of an order: `unknown`, `queued` or `picked`. Raises NoAnswer, BadAnswer or NotTaken."""
    client = connection.client(context.configuration)
    if client is None:
        return Error("NOT_CONFIGURED")
    path = f"/orders/{quote(input.order, safe='')}/status"
    reply = client.get(path, reply=STATUS)
    if reply["order"] != input.order:
        raise BadAnswer(f"GET {path}: the answer is about another order")
    return {"order": input.order, "status": reply["status"]}
