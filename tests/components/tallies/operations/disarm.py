from toa import Error


def transition(input, entry, context):
    entry.count += 1
    context.delay.cancel(input.delay)
    if input.outcome == "error":
        return Error("NEVER")
    if input.outcome == "raise":
        raise RuntimeError("after disarming")
