from toa import Error


def transition(input, entry, context):
    if entry.lines[-1:] == ["closed"]:
        return Error("CLOSED")
    entry.lines.append(input.line)
