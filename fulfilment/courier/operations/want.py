from fulfilment.courier.types import Context, Entry


def transition(input: None, entry: Entry, context: Context) -> None:
    """Want a courier from the moment on when the order was packed."""
    if entry.wanted is None:
        entry.wanted = context.after(0)
