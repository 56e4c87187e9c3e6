from urllib.parse import quote

import toa
from fulfilment.warehouse.replies import PICK
from fulfilment.warehouse.types import EffectContext, PickInput
from shop.outside import connection
from shop.outside.problems import BadAnswer
from toa import Error


def effect(input: PickInput, context: EffectContext) -> dict[str, str] | Error:
    """Have the goods of an order taken from the shelf. Raises NoAnswer, BadAnswer or NotTaken.

    The key is the order's own: whoever asks again, in another call too, asks for the same picking.
    """
    client = connection.client(context.configuration)
    if client is None:
        return Error("NOT_CONFIGURED")
    path = f"/orders/{quote(input.order, safe='')}/pick"
    body = {"product": input.product, "quantity": input.quantity}
    reply = client.post(path, body, key=toa.key("warehouse.pick", input.order), reply=PICK)
    if reply["order"] != input.order:
        raise BadAnswer(f"POST {path}: the answer is about another order")
    return {"order": input.order, "status": reply["status"]}
