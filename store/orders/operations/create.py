from store.orders.types import Context, CreateInput, Entry
from toa import Error


def transition(input: CreateInput, entry: Entry, context: Context) -> dict[str, str] | Error:
    """Place an order; replies with its id. Not paid in time, it is cancelled: by a sweep, an alarm or its process."""
    configuration = context.configuration
    if input.total > configuration.limit:
        return Error("LIMIT_EXCEEDED", total=str(input.total), limit=configuration.limit)
    entry.reference = input.reference
    entry.customer = input.customer
    entry.product = input.product
    entry.quantity = input.quantity
    entry.total = input.total
    if configuration.expiry == "alarm":
        cancellation = {"query": {"id": entry.id}, "input": {"reason": "EXPIRED"}}
        entry.alarm = context.delay("store.orders.cancel", cancellation, interval=configuration.window, overdue=None)
    elif configuration.expiry == "sweep":
        entry.pay_by = context.after(configuration.window)
    return {"id": entry.id}
