def transition(input, entry, context):
    entry.amount += input.amount
    return {"amount": entry.amount}
