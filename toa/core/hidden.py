"""Text that is not shown: a credential in a configuration, which no log, error or page should tell."""

from __future__ import annotations


class Hidden(str):
    """The very text for whoever uses it as text; nothing of it where it is represented, as a value of a record is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'(hidden)'"
