"""From a packed order to its booking."""

from __future__ import annotations

from typing import Any


def of_order(state: Any, origin: Any) -> dict[str, Any]:
    """The booking of the order."""
    return {"query": {"id": state.id}}
