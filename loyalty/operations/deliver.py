from loyalty.months import current
from loyalty.types import Context, DeliverOutput, Entry
from toa import Error


def transition(input: None, entry: Entry, context: Context) -> DeliverOutput | Error:
    """Bring the month up to date, and take one free delivery of it."""
    month, free = current(entry, context.now(), context.configuration)
    if free < 1:
        return Error("NONE_LEFT", month=month)
    entry.month, entry.free = month, free - 1
    return {"month": month, "free": entry.free}
