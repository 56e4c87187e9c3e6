from store.orders.types import Context, Entry
from toa import Error


def transition(input: None, entry: Entry, context: Context) -> Error | None:
    """Have the warehouse asked once more by a call of the order's own, whose failure waits for a person.

    A person who has it made again has the warehouse asked again.
    """
    if entry.status != "approved":
        return Error("NOT_APPROVED", status=entry.status)
    if entry.escalated is not None:
        return Error("ESCALATED")
    entry.escalated = context.now()
    context.send("store.orders.inquire", {"input": {"order": entry.id}})
    return None
