"""The formats a JSON Schema may name here. Both validators use these very functions, so they cannot disagree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date
from uuid import UUID

from toa.core.clock import read_datetime
from toa.core.duration import parse_duration
from toa.exceptions import InvalidDuration

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EMAIL = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]"
)
_HEX = re.compile(r"[0-9a-f]{32}")
_UUID = re.compile(
    r"(?:urn:uuid:)?(\{)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?(1)\})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format: the `type` it goes with, what a value of it looks like, and, for text, whether one fits."""

    type: str
    example: str
    fits: Callable[[str], bool] | None = None
    """Null where the format is no question to a text: such values are held by bounds and by conversion."""


def is_date(text: str) -> bool:
    """Whether text is a calendar date, `2026-03-01`."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Whether text is a moment with its offset from UTC, as RFC 3339 has it: `2026-03-01T09:00:00+01:00`."""
    if not _DATE_TIME.fullmatch(text):
        return False
    try:
        # A moment that leaves the calendar when it is moved to UTC could not be stored.
        read_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return True


def is_email(text: str) -> bool:
    """Whether text is an ordinary mail address of at most 254 characters."""
    return len(text) <= 254 and len(text.partition("@")[0]) <= 64 and _EMAIL.fullmatch(text) is not None


def is_duration(text: str) -> bool:
    """Whether text is a duration such as `72h` or `1d12h`."""
    try:
        parse_duration(text)
    except InvalidDuration:
        return False
    return True


def is_uuid(text: str) -> bool:
    """Whether text is a UUID in any usual spelling: with or without hyphens, in braces, as a URN."""
    return _UUID.fullmatch(text) is not None


def uuid_hex(text: str) -> str:
    """The 32 hex digits, lower case, of a UUID in any usual spelling. Text that is none comes back as it is."""
    if _HEX.fullmatch(text) or not is_uuid(text):
        return text
    return UUID(text.lower()).hex


FORMATS: Mapping[str, Format] = {
    "decimal": Format(type="number", example='"12.50"'),
    "epoch-millis": Format(type="integer", example="1767225600000"),
    "date": Format(type="string", example="2026-03-01", fits=is_date),
    "date-time": Format(type="string", example="2026-03-01T09:00:00Z", fits=is_date_time),
    "duration": Format(type="string", example="1d12h", fits=is_duration),
    "email": Format(type="string", example="ada@example.org", fits=is_email),
    "uuid": Format(type="string", example="0190b1f0c6d87d0e8b1a5d0c3a0f9e11", fits=is_uuid),
}

TEXT_FORMATS: Mapping[str, Callable[[str], bool]] = {
    name: known.fits for name, known in FORMATS.items() if known.fits is not None
}
"""The formats that are a question to a text, for handing to a validator."""
