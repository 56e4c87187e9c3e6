def transition(input, entry, context):
    if entry.mode == "broken":
        raise ValueError("broken")
    entry.log.append("a")
    entry.a = None
