from toa import Error


def transition(input, entry, context):
    entry.seen += 1
    if entry.until % 1000 == 7:
        return Error("STUBBORN")
    if entry.until % 1000 == 13:
        raise ValueError("thirteen")
    entry.open = False
