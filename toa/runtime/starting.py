"""Starting a run of a workflow: one row, in the caller's transaction. What runs it comes later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connections, transaction

from toa.core.calling import refuses_chain
from toa.core.clock import to_datetime
from toa.core.identity import LONGEST_KEY, canonical, check_key, digest, dumps, uuid7
from toa.core.specs import OperationType
from toa.exceptions import InvalidInput, NotAllowedHere, OnceMismatch
from toa.runtime import bindings, clock, settings, waking
from toa.runtime.bindings import Operation
from toa.runtime.requests import prepare
from toa.runtime.table import from_json

MOST_BYTES = 262_144
"""Bytes of JSON that an input, the reply of one step, or a result has at most."""

_INSERT = """
INSERT INTO toa_run (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, created_at, key, seq,
                     steps, watches, cancel_by)
VALUES (%s, %s, %s, %s, %s, 0, 0, %s, %s, %s, %s, 0, 0, '{}', '')
ON CONFLICT (id) DO NOTHING
"""
# A statement of its own: it sees a run that ended while the one before waited for that.
_UNDO = "DELETE FROM toa_run WHERE id = %s AND seq = 0 AND EXISTS (SELECT 1 FROM toa_endedrun WHERE id = %s)"
_REQUEST = """
SELECT request FROM toa_run WHERE id = %s UNION ALL SELECT request FROM toa_endedrun WHERE id = %s LIMIT 1
"""


def start(endpoint: str, input: Any = None, key: str | None = None) -> str:
    """Start a run of a workflow, in the caller's transaction; returns the run's id.

    ::

        run = toa.start("loyalty.welcome", {"customer": customer}, key=customer)

    A start with the same key starts nothing, and returns the same id, for as long as the run and then its record is
    kept (`TOA["HISTORY_DAYS"]`). Raises UnknownEndpoint, InvalidInput, NotAllowedHere for an operation that is no
    workflow, OnceMismatch where the key was used with another input.
    """
    operation = bindings.operation(endpoint)
    if key is not None:
        check_key(key)
    identity, begun = begin(operation, input, key)
    if not begun:
        _check_same(identity, endpoint, input)
    return identity.hex


def begin(
    operation: Operation,
    input: Any,
    key: str | None,
    *,
    shown: str = "",
    chain: Sequence[str] = (),
    due: int | None = None,
    cause: Any = None,
) -> tuple[UUID, bool]:
    """Store a run, in the open transaction where one is; its id, and whether it was not there before.

    `shown` is kept as its key in place of the key that its id is made from. `chain` are the endpoints that led here,
    `due` is the moment it was planned for, epoch ms; null: now.
    """
    if operation.spec.type is not OperationType.WORKFLOW:
        raise NotAllowedHere(
            f"{operation.endpoint} is of type {operation.spec.type.value}: it is called, not started",
            hint=f"toa.call({operation.endpoint!r}, …)",
        )
    prepare(operation, input)
    text = dumps({"input": input})
    if len(text) > MOST_BYTES:
        raise InvalidInput(f"the input has {len(text)} bytes of JSON; {MOST_BYTES} are the most")
    reason = refuses_chain(tuple(chain), operation.endpoint)
    if reason:
        raise NotAllowedHere(reason)
    now = clock.clock().now()
    identity = uuid7() if key is None else run_id(operation.endpoint, key)
    moment = to_datetime(now)
    row: list[Any] = [
        identity,
        operation.endpoint,
        text,
        to_datetime(now if due is None else due),
        moment,
        list(chain),
        None if cause is None else dumps(cause),
        moment,
        shown or key or "",
    ]
    begun = _insert(row) if key is None else _insert_once(row)
    if begun:
        waking.after_commit(moment, moment)
    return identity, begun


def _insert(row: list[Any]) -> bool:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_INSERT, row)
        return bool(cursor.rowcount)


def _insert_once(row: list[Any]) -> bool:
    """Insert a run, unless one of that id is there or has ended; both statements are one transaction."""
    connection, gone = connections[settings.alias()], [row[0], row[0]]
    if getattr(connection.features, "uses_server_side_binding", False):
        # The database binds the parameters of one statement at a time.
        with transaction.atomic(using=settings.alias()), connection.cursor() as cursor:
            cursor.execute(_INSERT, row)
            begun = bool(cursor.rowcount)
            cursor.execute(_UNDO, gone)
            return begun and not cursor.rowcount
    with connection.cursor() as cursor:
        # In one message, which is one transaction where none is open: most of what a start costs is the way there.
        cursor.execute(f"{_INSERT};{_UNDO}", [*row, *gone])
        begun = bool(cursor.rowcount)
        cursor.nextset()
        return begun and not cursor.rowcount


def key_of(caller: str, key: str) -> str:
    """A caller's own key as a run's key: the same one of another caller stands for another run."""
    whole = f"{caller}:{key}"
    return whole if len(whole) <= LONGEST_KEY else f"{caller[:100]}:{digest(caller, key)}"


def is_under_way(key: str) -> bool:
    """Whether a run of that key is on its way."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute("SELECT 1 FROM toa_run WHERE key = %s LIMIT 1", [key])
        return cursor.fetchone() is not None


def run_id(endpoint: str, key: str) -> UUID:
    """The id of the run that a key stands for: a UUID of version 8."""
    value = int(digest("run", endpoint, key)[:32], 16)
    return UUID(int=value & ~(0xF000 << 64 | 0b11 << 62) | 0x8000 << 64 | 0b10 << 62)


def _check_same(identity: UUID, endpoint: str, input: Any) -> None:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_REQUEST, [identity, identity])
        row = cursor.fetchone()
    if row is not None and canonical(from_json(row[0]).get("input")) != canonical(input):
        raise OnceMismatch(f"this key was used before to start {endpoint} with another input", hint="use a new key")
