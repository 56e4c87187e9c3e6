"""Values of criteria: text that must spell exactly what the property holds."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from toa.core.clock import GREATEST, LEAST, read_datetime, to_moment
from toa.core.criteria_lexer import UNSTORABLE
from toa.core.criteria_nodes import Scalar
from toa.core.criteria_targets import Target
from toa.core.nearest import did_you_mean
from toa.core.specs import PropertyType
from toa.exceptions import InvalidQuery

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?P<whole>0|[1-9][0-9]*)(?:\.(?P<places>[0-9]+))?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATETIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_UUID = re.compile(
    r"(?:urn:uuid:)?(?:[0-9a-f]{32}|(\{)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?(1)\}))", re.IGNORECASE
)


class Unfit(ValueError):
    """A text that does not spell a value of the type."""


def read_text(target: Target, text: str, *, quoted: bool, position: int | None = None) -> Scalar:
    """The value that a text spells for a target, in the form drafts hold it. Raises `InvalidQuery`."""
    kind = target.type or undeclared_type(text, quoted=quoted)
    try:
        return _READERS[kind](text, target)
    except Unfit as unfit:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        message = f"{shown!r} does not fit {target.label!r}: {unfit}"
    hint = did_you_mean(text, target.enum) if target.enum and kind is PropertyType.STRING else ""
    raise InvalidQuery(message, position=position, hint=hint)


def read_value(target: Target, value: Any) -> Scalar:
    """The same for a value given in Python: `str`, `int`, `Decimal`, `UUID`, aware `datetime`, ….

    Raises `InvalidQuery` where the value's type is not one that the target takes; a float is no decimal.
    """
    kind = target.type or undeclared_type_of(value)
    text = _spelling(kind, value)
    if text is None:
        raise InvalidQuery(
            f"{target.label!r} takes {_TAKES[kind]}, not {type(value).__name__}",
            hint="give the value itself, not an expression" if hasattr(value, "resolve_expression") else "",
        )
    return read_text(target, text, quoted=isinstance(value, str))


def undeclared_type(text: str, *, quoted: bool) -> PropertyType:
    """The type of a value for an undeclared member: quoted it is text, bare it is what it looks like."""
    if quoted:
        return PropertyType.STRING
    if text in ("true", "false"):
        return PropertyType.BOOLEAN
    return PropertyType.NUMBER if _NUMBER.fullmatch(text) else PropertyType.STRING


def undeclared_type_of(value: Any) -> PropertyType:
    """The same for a value given in Python."""
    if isinstance(value, bool):
        return PropertyType.BOOLEAN
    return PropertyType.NUMBER if isinstance(value, int | float | Decimal) else PropertyType.STRING


def _string(text: str, target: Target) -> str:
    if UNSTORABLE.search(text):
        raise Unfit("it holds a character that cannot be stored")
    if target.enum is not None and text not in target.enum:
        raise Unfit(f"it is none of {', '.join(target.enum)}")
    return text


def _integer(text: str, target: Target) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > 20:
        raise Unfit("an integer is plain digits, at most 64 bits")
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise Unfit("an integer is plain digits, at most 64 bits")
    return value


def _number(text: str, target: Target) -> float | Decimal:
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Unfit("a number is finite and written as in JSON")
    exact, nearest_float = Decimal(text), float(text)
    if exact and not nearest_float:
        raise Unfit("it is smaller than a number holds")
    # Numbers inside objects are kept digit by digit; those of a column are floats.
    return exact if target.path else nearest_float


def _decimal(text: str, target: Target) -> Decimal:
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise Unfit("a decimal is plain digits")
    places, whole = len(found["places"] or ""), len(found["whole"].lstrip("0"))
    if target.places is not None and places > target.places:
        raise Unfit(f"it has {places} digits after the point, {target.places} at most")
    if target.digits is not None and whole > target.digits - (target.places or 0):
        raise Unfit(f"it has {whole} digits before the point, {target.digits - (target.places or 0)} at most")
    if max(whole, places) > 1000:
        raise Unfit("it has more than 1000 digits")
    return Decimal(text)


def _boolean(text: str, target: Target) -> bool:
    if text not in ("true", "false"):
        raise Unfit("a boolean is true or false")
    return text == "true"


def _moment(text: str, target: Target) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > 20:
        raise Unfit("a moment is whole epoch milliseconds")
    value = int(text)
    if not LEAST <= value <= GREATEST:
        raise Unfit("a moment lies between the years 1 and 9999, in epoch milliseconds")
    return value


def _uuid(text: str, target: Target) -> str:
    if not _UUID.fullmatch(text):
        raise Unfit("a UUID is 32 hex digits, with or without dashes")
    return uuid.UUID(text.lower()).hex


def _date(text: str, target: Target) -> date:
    if not _DATE.fullmatch(text):
        raise Unfit("a date is YYYY-MM-DD")
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Unfit(str(error)) from None


def _datetime(text: str, target: Target) -> datetime:
    if not _DATETIME.fullmatch(text):
        raise Unfit("a date-time is ISO 8601 with its offset")
    try:
        return read_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Unfit(str(error)) from None


def _nothing(text: str, target: Target) -> Scalar:
    raise Unfit(f"an {target.type} compares only with null; name a member of an object behind a dot")


_READERS: dict[PropertyType, Callable[[str, Target], Scalar]] = {
    PropertyType.STRING: _string,
    PropertyType.EMAIL: _string,
    PropertyType.REF: _string,
    PropertyType.INTEGER: _integer,
    PropertyType.NUMBER: _number,
    PropertyType.DECIMAL: _decimal,
    PropertyType.BOOLEAN: _boolean,
    PropertyType.MOMENT: _moment,
    PropertyType.UUID: _uuid,
    PropertyType.DATE: _date,
    PropertyType.DATETIME: _datetime,
    PropertyType.OBJECT: _nothing,
    PropertyType.ARRAY: _nothing,
}

_TAKES: dict[PropertyType, str] = {
    PropertyType.STRING: "text",
    PropertyType.EMAIL: "text",
    PropertyType.REF: "a key",
    PropertyType.INTEGER: "an int",
    PropertyType.NUMBER: "a number",
    PropertyType.DECIMAL: "a Decimal",
    PropertyType.BOOLEAN: "a bool",
    PropertyType.MOMENT: "epoch milliseconds or an aware datetime",
    PropertyType.UUID: "a UUID",
    PropertyType.DATE: "a date",
    PropertyType.DATETIME: "an aware datetime",
    PropertyType.OBJECT: "only None",
    PropertyType.ARRAY: "only None",
}

_NOT_AS_TEXT = frozenset(
    {
        PropertyType.INTEGER,
        PropertyType.NUMBER,
        PropertyType.BOOLEAN,
        PropertyType.MOMENT,
        PropertyType.OBJECT,
        PropertyType.ARRAY,
    }
)


def _spelling(kind: PropertyType, value: Any) -> str | None:
    """The text that spells a Python value of the type, or None where the type does not take it."""
    if isinstance(value, str):
        # An enum of Django or of the standard library spells its value, not its name.
        return None if kind in _NOT_AS_TEXT else str.__str__(value)
    match kind, value:
        case PropertyType.BOOLEAN, bool():
            return "true" if value else "false"
        case _, bool():
            return None
        case ((PropertyType.INTEGER | PropertyType.MOMENT | PropertyType.REF | PropertyType.DECIMAL), int()):
            return str(int(value)) if abs(value) < 10**1000 else "1e1000"
        case PropertyType.NUMBER, int() | float():
            return repr(value) if isinstance(value, float) or abs(value) < 10**308 else "1e400"
        case PropertyType.NUMBER, Decimal():
            return str(value)
        case PropertyType.DECIMAL, Decimal():
            return format(value, "f") if abs(value.adjusted()) < 2000 else str(value)
        case PropertyType.MOMENT, datetime() if value.tzinfo is not None:
            return str(to_moment(value))
        case ((PropertyType.UUID | PropertyType.REF), uuid.UUID()):
            return value.hex
        case PropertyType.DATETIME, datetime() if value.tzinfo is not None:
            return _in_utc(value).isoformat()
        case PropertyType.DATE, date() if not isinstance(value, datetime):
            return value.isoformat()
    return None


def _in_utc(value: datetime) -> datetime:
    """The datetime in UTC, whose offset is always written alike; as it is where it would leave the calendar there."""
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return value
