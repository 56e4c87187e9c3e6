from store.orders.types import State


def condition(state: State, origin: State | None) -> bool:
    """The order was paid in this change."""
    return state.status == "approved" and (origin is None or origin.status != "approved")
