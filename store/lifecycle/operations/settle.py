from store.lifecycle.types import Context, Entry


def transition(input: None, entry: Entry, context: Context) -> None:
    """The payment moved: neither the deadline nor a reminder is due any more."""
    entry.payment_deadline = None
    entry.reminder = None
