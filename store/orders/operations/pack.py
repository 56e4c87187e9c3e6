from store.orders.types import Context, Entry
from toa import Error


def transition(input: None, entry: Entry, context: Context) -> Error | None:
    """The goods are in their box: from here on the order is not given up any more."""
    if entry.status != "approved":
        return Error("NOT_APPROVED", status=entry.status)
    entry.status = "packed"
    return None
