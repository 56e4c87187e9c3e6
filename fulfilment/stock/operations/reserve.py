from fulfilment.stock.types import Context, Entry, ReserveInput


def transition(input: ReserveInput, entry: Entry, context: Context) -> dict[str, bool]:
    """Keep `quantity` for `order`, once. Where there is not enough, the order is cancelled as OUT_OF_STOCK."""
    if input.order in entry.reserved:
        return {"reserved": True}
    if entry.available < input.quantity:
        context.send("store.orders.cancel", {"query": {"id": input.order}, "input": {"reason": "OUT_OF_STOCK"}})
        return {"reserved": False}
    entry.available -= input.quantity
    entry.reserved[input.order] = input.quantity
    return {"reserved": True}
