def transition(input, entry, context):
    """Add what arrived to what is available; replies with the new figure."""
    entry.available += input.quantity
    return {"available": entry.available}
