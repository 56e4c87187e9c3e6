from toa import Error


def transition(input, entry, context):
    if entry.count + input.by > 1000:
        return Error("FULL", count=entry.count)
    entry.count += input.by
    return {"count": entry.count}
