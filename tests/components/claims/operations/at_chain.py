def transition(input, entry, context):
    entry.log.append(context.due)
    entry.chain = context.after("24h")
