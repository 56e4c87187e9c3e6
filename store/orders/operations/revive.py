import toa
from store.orders.types import EffectContext, ReviveInput, State
from toa import Error, Swept
from toa.core.duration import parse_duration
from toa.exceptions import LeaseLost

BATCH = 100


def effect(input: ReviveInput, context: EffectContext) -> Swept | None:
    """Move on the orders that were paid and of which nothing was heard since, the longest silent first.

    Those that the warehouse cannot be asked about are left alone and tried again later. One that has been silent for
    too long is told to a person, once.
    """
    configuration = context.configuration
    if configuration.picking != "warehouse":
        return None  # people pack, and there is nobody to ask
    now = context.now()
    too_long = now - parse_duration(configuration.patience)

    def each(order: State) -> Error | None:
        try:
            reply = context.local.inquire({"order": order.id})
        except LeaseLost:
            raise
        except Exception:
            if order.UPDATED < too_long and order.escalated is None:
                context.local.escalate(query={"id": order.id})
            raise
        return reply if isinstance(reply, Error) else None

    return toa.sweep(
        context,
        criteria=f"status==approved;UPDATED<{now - parse_duration(configuration.silence)}",
        sort="UPDATED",
        limit=BATCH,
        each=each,
    )
