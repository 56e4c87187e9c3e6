from fulfilment.courier.types import Context, Entry, RecordInput


def transition(input: RecordInput, entry: Entry, context: Context) -> None:
    """Keep the courier's name for the booking."""
    entry.reference = input.reference
