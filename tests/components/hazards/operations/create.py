def transition(input, entry, context):
    entry.mode = input.get("mode")
    entry.moment = input.get("moment")
    return {"id": entry.id}
