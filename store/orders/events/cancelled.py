def condition(state, origin):
    """The order was given up in this change."""
    return state.status == "cancelled" and (origin is None or origin.status != "cancelled")
