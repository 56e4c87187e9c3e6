import toa
from shop.outside import connection
from store.payments.replies import REFUND
from store.payments.types import EffectContext, RefundInput
from toa import Error


def effect(input: RefundInput, context: EffectContext) -> dict[str, str] | Error:
    """Have the provider pay back what is owed. Raises NoAnswer, BadAnswer or NotTaken.

    Where the process dies after the provider said yes, or its answer is lost, this is called again: the key is the
    order's own, so the provider knows that it paid already and answers with the same reference.
    """
    owed = context.local.observe(query={"id": input.order})
    if owed is None or owed.amount is None:
        return Error("NOT_OWED")
    if owed.reference is not None:
        return {"refund": owed.reference}
    client = connection.client(context.configuration)
    if client is None:
        return Error("NOT_CONFIGURED")
    asked = {"order": input.order, "amount": f"{owed.amount:.2f}"}
    reply = client.post("/refunds", asked, key=toa.key("refund", input.order), reply=REFUND)
    recorded = context.local.record({"reference": reply["refund"]}, {"id": input.order})
    return recorded if isinstance(recorded, Error) else {"refund": reply["refund"]}
