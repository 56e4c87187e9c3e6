def transition(input, entry, context):
    return {"id": entry.id}
