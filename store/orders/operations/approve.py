from store.orders.types import Context, Entry
from toa import Error


def transition(input: None, entry: Entry, context: Context) -> Error | None:
    """The payment arrived: nothing is due on this order any more, and its goods are wanted."""
    if entry.status != "pending":
        return Error("NOT_PENDING", status=entry.status)
    entry.status = "approved"
    entry.pay_by = None
    if entry.alarm is not None:
        context.delay.cancel(entry.alarm)
        entry.alarm = None
    if context.configuration.picking == "warehouse":
        context.send("store.orders.hand_over", {"input": {"order": entry.id}})
    return None
