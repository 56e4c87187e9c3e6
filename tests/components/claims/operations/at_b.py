def transition(input, entry, context):
    entry.log.append("b")
    entry.b = None
