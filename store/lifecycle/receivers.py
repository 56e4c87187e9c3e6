"""From an order's events to its process."""

from __future__ import annotations

from typing import Any


def is_process(state: Any, origin: Any) -> bool:
    """Whether the order's time is left to its process: neither a sweep nor an alarm was to cancel it.

    A paid order shows it no more, whatever it was; then the process that is not there has nothing to do.
    """
    order = origin if origin is not None else state
    return bool(order.pay_by is None and order.alarm is None)


def begin(state: Any, origin: Any) -> dict[str, Any]:
    """A new order begins its process."""
    return {"query": {"id": state.id}, "input": {"reference": state.reference}}


def of_order(state: Any, origin: Any) -> dict[str, Any]:
    """The process of the order."""
    return {"query": {"id": state.id}}
