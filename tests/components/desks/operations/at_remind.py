def transition(input, entry, context):
    entry.remind = None
