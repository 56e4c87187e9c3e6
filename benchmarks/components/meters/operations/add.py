def transition(input, entry, context):
    entry.count += input.by
