from store.lifecycle.types import Context, Entry


def transition(input: None, entry: Entry, context: Context) -> None:
    """Nothing comes after this. An order that no process was begun for has none to end."""
    if entry.VERSION:
        entry.payment_deadline = None
        entry.reminder = None
        context.close()
