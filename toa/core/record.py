"""`Record`: a mapping whose keys read as attributes too, for inputs, replies and states."""

from __future__ import annotations

from typing import Any


class Record(dict[str, Any]):
    """A plain dictionary with attribute access: `input.total` and `input["total"]` are the same.

    Being a dictionary it is JSON-ready as it stands. A key that is also a method of `dict` (`items`, `keys`, …)
    is reached by item access only.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no {name!r} here; there is {', '.join(map(repr, self)) or 'nothing'}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def as_record(value: Any) -> Any:
    """The value with every dictionary in it, at any depth, turned into a `Record`; scalars as they are."""
    if isinstance(value, dict):
        return Record((key, as_record(item)) for key, item in value.items())
    if isinstance(value, list):
        return [as_record(item) for item in value]
    return value
