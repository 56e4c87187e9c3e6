from store.orders.types import State


def condition(state: State, origin: State | None) -> bool:
    """The order was packed in this change."""
    return state.status == "packed" and (origin is None or origin.status != "packed")
