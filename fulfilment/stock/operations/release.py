from fulfilment.stock.types import Context, Entry, ReleaseInput


def transition(input: ReleaseInput, entry: Entry, context: Context) -> dict[str, int]:
    """Give back exactly what is kept for the order, then forget it; nothing where nothing is kept."""
    quantity = entry.reserved.pop(input.order, 0)
    entry.available += quantity
    return {"released": quantity}
