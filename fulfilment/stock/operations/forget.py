from fulfilment.stock.types import Context, Entry, ForgetInput


def transition(input: ForgetInput, entry: Entry, context: Context) -> dict[str, int]:
    """What was kept for the order has left the house: forget it, and give nothing back."""
    quantity = entry.reserved.pop(input.order, 0)
    return {"gone": quantity}
