"""Identities and keys: UUIDv7, canonical JSON, digests that stay the same over retries."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from toa.core.traces import keepable
from toa.exceptions import InvalidInput

LONGEST_KEY = 191
"""Characters of the key of a delay, a run or a lock."""

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A new UUIDv7 (RFC 9562): ordered by time, and within one process strictly rising.

    The 12 bits after the moment continue it in units of 1/4096 ms; where the clock did not move, or moved back,
    they count on from the last value.
    """
    global _last
    stamp = time.time_ns() * 4096 // 1_000_000
    with _lock:
        stamp = _last = max(stamp, _last + 1)
    moment, fraction = stamp >> 12, stamp & 0xFFF
    tail = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    return uuid.UUID(int=(moment & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | tail)


def plain(value: Any) -> Any:
    """What `json` cannot write by itself, as JSON-ready data: decimals as plain digits, UUIDs as 32 hex digits."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, uuid.UUID):
        return value.hex
    raise TypeError(f"{type(value).__name__} is not JSON: {value!r}")


def jsonable(value: Any) -> Any:
    """Specs and other plain data as JSON-ready data: sets as sorted lists, enums by their value."""
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [jsonable(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else plain(value)


# Made once: `json.dumps` makes another one at each call.
_COMPACT = json.JSONEncoder(default=plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_CANONICAL = json.JSONEncoder(default=plain, separators=(",", ":"), sort_keys=True, allow_nan=False)


def dumps(value: Any) -> str:
    """Compact JSON. Raises TypeError for what is not JSON, ValueError for NaN and infinities."""
    return _COMPACT.encode(value)


def canonical(value: Any) -> str:
    """JSON that is equal for equal data: keys sorted, no spaces."""
    return _CANONICAL.encode(value)


def digest(*parts: Any) -> str:
    """64 hex digits (SHA-256) that are equal for equal parts."""
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def key(*parts: Any) -> str:
    """A stable key for an outside system, from a business identity: `toa.key("courier", order.id)`.

    The same parts give the same key on every process, at every attempt. Readable at the front, exact at the end.
    """
    if not parts:
        raise ValueError("a key needs at least one part")
    return f"{parts[0]!s:.32}-{digest(*parts)[:32]}"


def check_key(key: object, what: str = "key") -> None:
    """Raises InvalidInput for what cannot be the key of a delay, a run or a lock; `what` begins the message."""
    if not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY and key == keepable(key)):
        raise InvalidInput(
            f"{what} is text of 1 to {LONGEST_KEY} characters, none of them NUL or a lone surrogate, not {key!r}"
        )


def derive(parent: str, endpoint: str, request: Any, repetition: int) -> str:
    """The key of a call made by another call: the same at every attempt of its parent."""
    return digest(parent, endpoint, request, repetition)[:40]
