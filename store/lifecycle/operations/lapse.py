from store.lifecycle.types import Context, Entry


def transition(input: None, entry: Entry, context: Context) -> None:
    """Have the order cancelled. It looks at itself again, so a payment that it has heard of already wins."""
    entry.payment_deadline = None
    entry.reminder = None
    context.send("store.orders.cancel", {"query": {"id": entry.id}, "input": {"reason": "EXPIRED"}})
