from toa import Error


def transition(input, entry, context):
    """The payment arrived: nothing is due on this order any more."""
    if entry.status != "pending":
        return Error("NOT_PENDING", status=entry.status)
    entry.status = "approved"
    entry.pay_by = None
    if entry.alarm is not None:
        context.delay.cancel(entry.alarm)
        entry.alarm = None
    return None
