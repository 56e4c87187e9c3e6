def transition(input, entry, context):
    for name in ("a", "b", "chain", "mode"):
        if name in input:
            entry[name] = input[name]
    entry.log.append("set")
    if input.get("close"):
        context.close()
