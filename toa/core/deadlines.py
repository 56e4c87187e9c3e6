"""Which deadline of an instance is due: worked out from its state, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

TIMEOUT = "timeout"
"""The deadline that ends the process; its moment is the system property TIMEOUT."""

FAILED, DRAINING, DISCARDED, CLOSED = "failed", "draining", "discarded", "closed"
"""The values of STATE. Null: running."""


@dataclass(frozen=True, slots=True, order=True)
class Reached:
    """A pending deadline: its moment in epoch ms, and its name. The earlier comes first, ties by name."""

    moment: int
    property: str


def stored_in(property: str) -> str:
    """The property that holds a deadline's moment."""
    return "TIMEOUT" if property == TIMEOUT else property


def earliest(state: Mapping[str, Any], deadlines: Iterable[str]) -> Reached | None:
    """The earliest pending deadline of an instance, whether reached or not; null where none is set."""
    pending = (Reached(moment, name) for name in deadlines if (moment := state.get(stored_in(name))) is not None)
    return min(pending, default=None)


def left_standing(draft: Mapping[str, Any], reached: Reached) -> str | None:
    """Why a transition did not do away with the deadline it was called for, or null where it did.

    A deadline that stands would be due again at once, for ever.
    """
    if reached.property == TIMEOUT or draft[reached.property] != reached.moment:
        return None
    return (
        f"{reached.property} is still at {reached.moment}, the moment that was just reached:"
        " its transition must clear it, or set another moment"
    )
