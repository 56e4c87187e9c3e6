def transition(input, entry, context):
    """Give back exactly what is kept for the order, then forget it; nothing where nothing is kept."""
    quantity = entry.reserved.pop(input.order, 0)
    entry.available += quantity
    return {"released": quantity}
