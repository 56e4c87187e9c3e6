import toa
from fulfilment.courier.replies import BOOKING
from fulfilment.courier.types import BookInput, EffectContext, State
from shop.outside import connection
from shop.outside.client import Client
from toa import Error, Swept
from toa.exceptions import LockTaken

BATCH = 100


def effect(input: BookInput, context: EffectContext) -> Swept | None:
    """Book a courier for the orders that have none, the longest packed first."""
    client = connection.client(context.configuration)
    if client is None:
        return None  # somebody else fetches
    return toa.sweep(
        context,
        criteria="reference==null",
        sort="wanted",
        limit=BATCH,
        each=lambda booking: _book(context, client, booking),
    )


def _book(context: EffectContext, client: Client, booking: State) -> Error | None:
    """Create the booking outside, one process at a time. Raises NoAnswer, BadAnswer or NotTaken.

    The lock keeps two processes from asking at once; the key, which is the order's own, has the courier take what is
    asked again after a crash or a lost answer for the same booking.
    """
    key = toa.key("courier", booking.id)
    try:
        with context.lock(key):
            # Read before the lock was held: another process may have booked since.
            known = context.local.observe(query={"id": booking.id})
            if known is None or known.reference is not None:
                return Error("BOOKED")
            reply = client.post("/bookings", {"order": booking.id}, key=key, reply=BOOKING)
            context.local.record({"reference": reply["booking"]}, {"id": booking.id, "version": known.VERSION})
    except LockTaken:
        return Error("BEING_BOOKED")
    return None
