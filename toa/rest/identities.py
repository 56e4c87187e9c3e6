"""Ids in paths of toa's own rows."""

from __future__ import annotations

from uuid import UUID

from toa.exceptions import NotFound


def identity_of(text: str) -> UUID:
    """The id that a path names. What is no id belongs to nothing: raises NotFound."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(text) from None
