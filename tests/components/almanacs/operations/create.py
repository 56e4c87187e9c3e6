def transition(input, entry, context):
    entry.until = input.until
    return {"id": entry.id}
