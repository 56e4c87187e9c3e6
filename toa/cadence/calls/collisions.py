"""Whether the changes of a set meet on what the database guards, so that only one by one each has its own outcome.

A set writes what its calls left at the end, by one statement: unique rules and foreign keys are looked at then. Where
a value was taken and given back within the set, or an object changed its value twice, the database would not see what
it refuses call by call.
"""

from __future__ import annotations

from typing import Any

from toa.runtime.bindings import Component
from toa.runtime.events import Change
from toa.runtime.table import State


class Collisions:
    """What the changes of one set did to guarded values so far."""

    def __init__(self, component: Component) -> None:
        table = component.table
        self._unique = tuple(table.entity.unique.values())
        self._refs = tuple((name,) for name, spec in table.properties.items() if spec.ref)
        self._changed: set[tuple[Any, tuple[str, ...]]] = set()
        self._held: set[tuple[Any, ...]] = set()

    def meets(self, change: Change) -> bool:
        """Take note of a change; true where it touches what another one of the set touched."""
        met = False
        for names in self._unique:
            met |= self._touches(change, names, unique=True)
        for names in self._refs:
            met |= self._touches(change, names, unique=False)
        return met

    def _touches(self, change: Change, names: tuple[str, ...], *, unique: bool) -> bool:
        before, after = _values(change.origin, names), _values(change.state, names)
        if before == after:
            return False
        place = (change.state["id"], names)
        again = place in self._changed
        self._changed.add(place)
        if not unique:
            return again
        # A null is unlike any other null.
        touched = {(names, *values) for values in (before, after) if values is not None and None not in values}
        met = again or not self._held.isdisjoint(touched)
        self._held |= touched
        return met


def _values(state: State | None, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The values as the database guards them: a tombstone holds none."""
    return None if state is None or state["DELETED"] is not None else tuple(state[name] for name in names)
