"""From an order's events to requests to its product's stock."""

from __future__ import annotations

from typing import Any


def reserve(state: Any, origin: Any) -> dict[str, Any]:
    """A new order wants its goods kept."""
    return {"query": {"id": state.product}, "input": {"order": state.id, "quantity": state.quantity}}


def release(state: Any, origin: Any) -> dict[str, Any]:
    """A cancelled or packed order needs its goods no longer."""
    return {"query": {"id": state.product}, "input": {"order": state.id}}
