"""From an order's events to requests to its customer's membership."""

from __future__ import annotations

from typing import Any


def earn(state: Any, origin: Any) -> dict[str, Any]:
    """A paid order earns its customer points."""
    return {"query": {"id": state.customer}, "input": {"total": state.total}}
