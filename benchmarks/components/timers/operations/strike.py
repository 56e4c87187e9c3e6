def transition(input, entry, context):
    entry.count += 1
    entry.moment = None
