"""Asks the context for what a transition may not have."""


def transition(input, entry, context):
    match input.what:
        case "local":
            context.local.observe(query={"id": entry.id})
        case "remote":
            context.remote.components.ledgers.observe(query={"id": entry.id})
        case "call":
            context.call("components.tallies.observe", None, {"id": entry.id})
        case "lock":
            context.lock("mine")
        case "system":
            entry.VERSION = 7
        case "unknown":
            entry.colour = "red"
        case "invalid":
            entry.count = -1
