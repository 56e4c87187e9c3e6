def transition(input, entry, context):
    entry.name = input.name
    entry.count = input.get("count", 0)
    if "amount" in input:
        entry.amount = input.amount
    return {"id": entry.id}
