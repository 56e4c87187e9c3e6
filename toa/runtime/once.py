"""Once keys: the same key of the same caller gives the same stored reply.

The record is inserted before anything else of the call, so that a racing duplicate waits on it instead of running
beside it; a reply that is an Error rolls the record back with everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connections

from toa.core.clock import to_datetime
from toa.core.identity import digest, dumps
from toa.core.record import as_record
from toa.exceptions import InvalidInput, OnceMismatch
from toa.runtime import settings
from toa.runtime.bindings import Operation
from toa.runtime.table import from_json

LONGEST_KEY = 255
"""Characters of a once key."""

_BEGIN = """
INSERT INTO toa_once AS kept (digest, endpoint, fingerprint, reply, expires_at) VALUES (%s, %s, %s, NULL, %s)
ON CONFLICT (digest) DO UPDATE
   SET fingerprint = excluded.fingerprint, reply = NULL, expires_at = excluded.expires_at
 WHERE kept.expires_at <= %s
RETURNING 1
"""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A reply given before."""

    reply: Any


def key_digest(operation: Operation, caller: str, key: str) -> str:
    """Under what a once key is remembered. Refuses a key that is not text, and one where the operation takes none."""
    if operation.spec.once_ms is None:
        raise InvalidInput(f"{operation.endpoint} takes no once key", hint="declare `once: true` in its manifest")
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        raise InvalidInput(f"a once key is text of 1 to {LONGEST_KEY} characters")
    return digest(caller, operation.endpoint, key)


def begin(operation: Operation, kept: str, input: Any, query: Mapping[str, Any] | None, now: int) -> Remembered | None:
    """Insert the record of this call, or give the reply of the one that came before.

    Waits while another call with the same key runs. Raises OnceMismatch where the key stands for another request.
    """
    assert operation.spec.once_ms is not None
    fingerprint = digest(input, query)
    moment = to_datetime(now)
    expires = moment + timedelta(milliseconds=operation.spec.once_ms)
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_BEGIN, [kept, operation.endpoint, fingerprint, expires, moment])
        if cursor.fetchone():
            return None
        cursor.execute("SELECT fingerprint, reply FROM toa_once WHERE digest = %s", [kept])
        before, reply = cursor.fetchone()
    if before != fingerprint:
        raise OnceMismatch(
            f"this once key was used before for another request to {operation.endpoint}", hint="use a new key"
        )
    return Remembered(as_record(from_json(reply)))


def remember(kept: str, reply: Any) -> None:
    """Store the reply of the call whose record was begun in this transaction."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute("UPDATE toa_once SET reply = %s WHERE digest = %s", [dumps(reply), kept])
