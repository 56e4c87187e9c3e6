from toa import Error


def transition(input, entry, context):
    if entry.until % 1000 == 7:
        return Error("STUBBORN")
    if entry.until % 1000 == 13:
        raise ValueError("thirteen")
    entry.seen += input.by
    entry.open = entry.until % 1000 == 21
