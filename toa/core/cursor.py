"""Keyset cursors: the place behind one row in a stable order, as opaque text for a URL.

A cursor holds the row's sort values and a digest over them and the order. It gives nothing away that the row
did not, and opens nothing: it only says where to go on. The digest is against slips, such as a changed sort,
a cut URL, a cursor of another listing.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import Any

from toa.core.clock import EPOCH, read_datetime
from toa.core.criteria_targets import Target
from toa.core.criteria_values import read_text
from toa.core.specs import PropertyType
from toa.exceptions import InvalidQuery

MAX_CURSOR = 65_536
"""Characters of a cursor: sort by something short."""

_HINT = "take the cursor from the page before, with the same sort"


@dataclass(frozen=True, slots=True, kw_only=True)
class SortKey:
    """One property that rows are sorted by. Null is greater than every value."""

    name: str
    descending: bool = False
    type: PropertyType
    nullable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The sort values of the row that the next page begins behind, one for each key of the order.

    Instants are aware `datetime` to the microsecond, so that a row written beside the clock's milliseconds is
    neither repeated nor passed over; the rest as drafts hold it.
    """

    values: tuple[Any, ...]


def encode_cursor(order: Sequence[SortKey], values: Mapping[str, Any]) -> str:
    """The cursor behind a row. `values` are the row's, by property name: as stored, or as drafts hold them.

    Raises `InvalidQuery` where the sort values are too long to page by.
    """
    texts = [None if values[key.name] is None else _written(key, values[key.name]) for key in order]
    text = _pack([_digest(order, texts), *texts])
    if len(text) > MAX_CURSOR:
        raise InvalidQuery("after: the sort values are too long to page by", hint="sort by something shorter")
    return text


def decode_cursor(text: Any, order: Sequence[SortKey]) -> Cursor:
    """What `encode_cursor` wrote for the same order. Raises `InvalidQuery` for anything else."""
    if not isinstance(text, str):
        raise InvalidQuery(f"after: the text of a cursor, not {type(text).__name__}", hint=_HINT)
    try:
        digest, *texts = _unpack(text)
    except ValueError:
        raise InvalidQuery("after: this is not a cursor", hint=_HINT) from None
    if len(texts) != len(order) or digest != _digest(order, texts):
        raise InvalidQuery("after: this cursor belongs to another sort, or was changed", hint=_HINT)
    return Cursor(values=tuple(_read(key, part) for key, part in zip(order, texts, strict=True)))


def _pack(parts: list[str | None]) -> str:
    return urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def _unpack(text: str) -> list[str | None]:
    if len(text) > MAX_CURSOR or not text.isascii() or not text:
        raise ValueError
    try:
        raw = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        parts = json.loads(raw)
    except (Base64Error, UnicodeDecodeError, RecursionError):
        raise ValueError from None
    if not isinstance(parts, list) or not parts or not all(p is None or isinstance(p, str) for p in parts):
        raise ValueError
    if _pack(parts) != text:
        raise ValueError
    return parts


def _digest(order: Sequence[SortKey], texts: Sequence[str | None]) -> str:
    shape = [[key.name, key.descending, key.type, key.nullable] for key in order]
    return blake2b(json.dumps([shape, texts]).encode(), digest_size=8).hexdigest()


def _written(key: SortKey, value: Any) -> str:
    match key.type, value:
        case PropertyType.MOMENT | PropertyType.DATETIME, datetime():
            return str((value - EPOCH) // timedelta(microseconds=1))
        case PropertyType.MOMENT, int():
            return str(value * 1000)
        case PropertyType.DATETIME, str():
            return _written(key, read_datetime(value))
        case PropertyType.BOOLEAN, bool():
            return "true" if value else "false"
        case PropertyType.NUMBER, float() | int():
            return repr(float(value))
        case _, Decimal():
            return format(value, "f")
    return str(value)


def _read(key: SortKey, text: str | None) -> Any:
    if text is None:
        if key.nullable:
            return None
        raise InvalidQuery("after: this cursor belongs to another sort, or was changed", hint=_HINT)
    if key.type in (PropertyType.MOMENT, PropertyType.DATETIME):
        try:
            return EPOCH + timedelta(microseconds=int(text))
        except (ValueError, OverflowError):
            raise InvalidQuery("after: this is not a cursor", hint=_HINT) from None
    if key.type is PropertyType.NUMBER and text in ("nan", "inf", "-inf"):
        return math.nan if text == "nan" else float(text)
    return read_text(Target(selector=key.name, type=key.type), text, quoted=True)
