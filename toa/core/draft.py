"""Drafts: what an operation reads and changes instead of a model instance.

A draft is made from the values of a locked row; the difference between what it holds at the end and what it was
made from is what commits. It knows no database, so a function may run on it again, or on a copy of it, at no cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

_OWN = ("_values", "_origin", "_writable")


class Draft(Mapping[str, Any]):
    """The values of one entity by property name, as attributes and as items.

    Moments are epoch ms, decimals are `Decimal`, the id is 32 hex digits. Setting a property that the entity does not
    have, or one that belongs to toa (`id`, `VERSION`, …), raises AttributeError.
    """

    __slots__ = _OWN

    _values: dict[str, Any]
    _origin: Mapping[str, Any]
    _writable: frozenset[str]

    def __init__(self, values: Mapping[str, Any], writable: frozenset[str]) -> None:
        object.__setattr__(self, "_origin", values)
        object.__setattr__(
            self, "_values", {k: deepcopy(v) if isinstance(v, dict | list) else v for k, v in values.items()}
        )
        object.__setattr__(self, "_writable", writable)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(self._unknown(name)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._writable:
            raise AttributeError(
                f"{name!r} is set by toa, not by an operation" if name in self._values else self._unknown(name)
            )
        self._values[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a property is cleared by setting it to None: entry.{name} = None")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.__setattr__(name, value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Draft({self._values!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are made from what it holds: the usual way asks for attributes before there are any.
        return _copied, (self._origin, self._values, self._writable)

    def _unknown(self, name: str) -> str:
        return f"no property {name!r}; there is {', '.join(self._values)}"


def changes(draft: Draft) -> dict[str, Any]:
    """The properties whose value differs from what the draft was made from, with their new values."""
    origin = draft._origin
    return {k: v for k, v in draft._values.items() if v is not origin.get(k) and not _same(v, origin.get(k))}


def state(draft: Draft) -> dict[str, Any]:
    """The draft's values now. Not a copy."""
    return draft._values


def _copied(origin: Mapping[str, Any], values: Mapping[str, Any], writable: frozenset[str]) -> Draft:
    draft = Draft(values, writable)
    object.__setattr__(draft, "_origin", origin)
    return draft


def _same(one: Any, other: Any) -> bool:
    # 1 == True and 1 == 1.0 in Python, but they are different values in a row, and in JSON.
    if isinstance(one, dict) and isinstance(other, dict):
        return one == other and all(_same(part, other[key]) for key, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return one == other and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)
