"""The marks between pages of lists that go by a moment and an id: written, read, and what comes after one."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import F, Value

from toa.core.clock import to_datetime, to_moment
from toa.exceptions import InvalidQuery
from toa.models.keyset import RowComparison


def mark(moment: datetime, identity: UUID) -> str:
    """The mark of a row: the next page begins after it."""
    return f"{to_moment(moment)}-{identity.hex}"


def read_mark(text: str) -> tuple[datetime, UUID]:
    """The moment and the id of a mark. Raises InvalidQuery."""
    moment, _, identity = text.partition("-")
    try:
        return to_datetime(int(moment)), UUID(identity)
    except (ValueError, OverflowError):
        raise InvalidQuery(f"after: {text!r} is no mark of a page") from None


def behind(column: str, moment: datetime, identity: UUID, *, descending: bool = False) -> RowComparison:
    """The rows after a place in the order of a column and the id: one range of their index."""
    return RowComparison([F(column), F("id")], [Value(moment), Value(identity)], descending=descending)
