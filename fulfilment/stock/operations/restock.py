from fulfilment.stock.types import Context, Entry, RestockInput


def transition(input: RestockInput, entry: Entry, context: Context) -> dict[str, int]:
    """Add what arrived to what is available; replies with the new figure."""
    entry.available += input.quantity
    return {"available": entry.available}
