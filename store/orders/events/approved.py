def condition(state, origin):
    """The order was paid in this change."""
    return state.status == "approved" and (origin is None or origin.status != "approved")
