from store.lifecycle.types import Context, Entry


def transition(input: None, entry: Entry, context: Context) -> None:
    """Have an order cancelled that was neither packed nor cancelled in time; the process ends with this."""
    entry.payment_deadline = None
    entry.reminder = None
    context.send("store.orders.cancel", {"query": {"id": entry.id}, "input": {"reason": "TIMEOUT"}})
