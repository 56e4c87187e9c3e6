from store.orders.types import Context, Entry
from toa import Error


def transition(input: None, entry: Entry, context: Context) -> Error | None:
    """The payment arrived: nothing is due on this order any more."""
    if entry.status != "pending":
        return Error("NOT_PENDING", status=entry.status)
    entry.status = "approved"
    entry.pay_by = None
    if entry.alarm is not None:
        context.delay.cancel(entry.alarm)
        entry.alarm = None
    return None
