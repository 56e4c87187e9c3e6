from store.orders.types import CancelInput, Context, Entry
from toa import Error


def transition(input: CancelInput, entry: Entry, context: Context) -> Error | None:
    """Give the order up. A paid one is never cancelled as EXPIRED; other reasons may end it until it is packed."""
    expired = input.reason == "EXPIRED"
    open_states = ("pending",) if expired else ("pending", "approved")
    if entry.status not in open_states:
        return Error("NOT_PENDING", status=entry.status)
    entry.status = "cancelled"
    entry.reason = input.reason
    if entry.alarm is not None:
        # An expiry is the alarm itself, or a person ahead of it: then the alarm finds the order cancelled.
        if not expired:
            context.delay.cancel(entry.alarm)
        entry.alarm = None
    return None
