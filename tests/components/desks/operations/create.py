def transition(input, entry, context):
    entry.title = input.title
    entry.keeper = input.keeper
    entry.rank = input.get("rank")
    return {"id": entry.id, "VERSION": 1}
