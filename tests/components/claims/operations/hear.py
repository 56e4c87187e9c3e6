def transition(input, entry, context):
    if entry.mode == "deaf":
        raise ValueError("deaf")
    entry.log.append(input.text)
    if entry.mode == "listen":
        entry.a = context.after("24h")
