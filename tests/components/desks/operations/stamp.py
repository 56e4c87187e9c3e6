def transition(input, entry, context):
    entry.rank = (entry.rank or 0) + 1
    return entry.rank
