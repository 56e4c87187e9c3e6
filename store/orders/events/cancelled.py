from store.orders.types import State


def condition(state: State, origin: State | None) -> bool:
    """The order was given up in this change."""
    return state.status == "cancelled" and (origin is None or origin.status != "cancelled")
