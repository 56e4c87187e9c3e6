"""From an order's events to requests to its product's stock."""


def reserve(state, origin):
    """A new order wants its goods kept."""
    return {"query": {"id": state.product}, "input": {"order": state.id, "quantity": state.quantity}}


def release(state, origin):
    """A cancelled order needs its goods no longer."""
    return {"query": {"id": state.product}, "input": {"order": state.id}}
