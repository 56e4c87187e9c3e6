"""The first deadline, which does what the row's `mode` says."""

from toa import Error, Transient

TRIES = []


def transition(input, entry, context):
    TRIES.append(context.key)
    entry.log.append("a")
    match entry.mode:
        case "leave":
            return
        case "again":
            entry.a = context.due
            return
        case "clears b":
            entry.b = None
        case "error":
            return Error("NO")
        case "flaky" if len(TRIES) < 3:
            raise Transient("not yet")
        case "broken":
            raise ValueError("broken")
        case "past":
            entry.b = context.due - 1000
    entry.a = None
