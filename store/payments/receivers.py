"""From an order that was given up to what is owed for it."""

from __future__ import annotations

from typing import Any


def was_paid(state: Any, origin: Any) -> bool:
    """Whether the order had been paid when it was given up."""
    return origin is not None and origin.status == "approved"


def owe(state: Any, origin: Any) -> dict[str, Any]:
    """The whole amount of the order is owed."""
    return {"query": {"id": state.id}, "input": {"amount": state.total}}
