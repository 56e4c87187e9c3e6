"""Locks across replicas: one row for each key, held for a while, renewed while its holder lives.

A lock keeps two effects from creating the same thing outside at the same time. It is a lease and no guarantee: a
process that froze for longer than the lease has lost it without knowing. What is done under it is therefore keyed for
the outside system as well, and the state is read again once the lock is held.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import Error, connections, transaction

from toa.core.calling import Call
from toa.core.clock import to_datetime
from toa.core.duration import format_duration, parse_duration
from toa.core.identity import check_key
from toa.exceptions import LockLost, LockTaken, NotAllowedHere
from toa.runtime import clock, settings
from toa.runtime.bindings import Operation
from toa.runtime.writing import check_lease

FIRST_LOOK_S, GROWTH, LONGEST_LOOK_S = 0.010, 1.5, 0.250
"""How often a waiting call looks again, in seconds, jittered."""

logger = logging.getLogger("toa.locking")

_TAKE = """
INSERT INTO toa_lock AS held (key, token, holder, taken_at, until) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (key) DO UPDATE
   SET token = excluded.token, holder = excluded.holder, taken_at = excluded.taken_at, until = excluded.until
 WHERE held.until <= %s
RETURNING 1
"""
_HOLDER = "SELECT holder FROM toa_lock WHERE key = %s"
# One that has lapsed and that nobody took meanwhile still has its token: it may go on.
_RENEW = "UPDATE toa_lock SET until = %s WHERE key = %s AND token = %s"
_HOLDS = "SELECT 1 FROM toa_lock WHERE key = %s AND token = %s AND until > %s"
_RELEASE = "DELETE FROM toa_lock WHERE key = %s AND token = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lock that was taken. `token` is another one each time, for an outside system that fences by it."""

    key: str
    token: UUID
    lease_ms: int

    def check(self) -> None:
        """Ask the database whether it is still held; raises LockLost. Before a step that cannot be taken back."""
        if not _affects(_HOLDS, [self.key, self.token, to_datetime(clock.clock().now())]):
            raise LockLost(f"the lock {self.key!r} has lapsed: its holder was silent for {_text(self.lease_ms)}")

    def renew(self) -> bool:
        """Move its end on; false where somebody else took it over."""
        return _affects(_RENEW, [to_datetime(clock.clock().now() + self.lease_ms), self.key, self.token])

    def release(self) -> bool:
        """Give it back; false where somebody else has it by now."""
        return _affects(_RELEASE, [self.key, self.token])


@contextmanager
def locked(operation: Operation, call: Call, key: str, wait: int | str) -> Iterator[Held]:
    """Hold the key while the body runs, waiting for at most `wait` (ms or text).

    Keys are the component's own: two components never share one. The lock lasts for the operation's `lease` and is
    renewed by a thread with a connection of its own. Raises LockTaken where somebody else holds the key; LockLost
    at the end where it had lapsed by then; LeaseLost where the calling effect has lost its own lease; NotAllowedHere
    inside a transaction, which would show the lock to nobody.
    """
    held = Held(key=_key(operation, key), token=uuid4(), lease_ms=operation.spec.lease_ms)
    waited = parse_duration(wait)
    connection = connections[settings.alias()]
    blocks = connection.atomic_blocks
    if any(not getattr(block, "_from_testcase", False) for block in blocks):
        raise NotAllowedHere(
            f"{operation.endpoint} asks for the lock {key!r} inside a transaction, where no other process sees it",
            hint="take the lock first, and open the transaction under it",
        )
    _wait_for(held, operation, call, waited)
    try:
        # Inside a test case's transaction no other connection sees the row: there is nothing to renew.
        with _renewed(held, renewing=not blocks):
            yield held
    except Exception:
        # What ends the process, and is no Exception, leaves the lock to lapse.
        with suppress(Error):
            held.release()
        raise
    if not held.release():
        raise LockLost(f"the lock {held.key!r} lapsed while {operation.endpoint} held it")


def _key(operation: Operation, key: str) -> str:
    check_key(key, "the key of a lock")
    return f"{operation.component.locator}:{key}"


def _wait_for(held: Held, operation: Operation, call: Call, wait_ms: int) -> None:
    give_up = time.monotonic() + wait_ms / 1000
    look = FIRST_LOOK_S
    while not _take(held, operation, call):
        left = give_up - time.monotonic()
        if left <= 0:
            raise LockTaken(f"{_holder(held.key)} holds the lock {held.key!r}; waited {_text(wait_ms)} for it")
        time.sleep(min(look * random.uniform(0.5, 1.0), left))
        look = min(look * GROWTH, LONGEST_LOOK_S)


def _take(held: Held, operation: Operation, call: Call) -> bool:
    now = clock.clock().now()
    moment, until = to_datetime(now), to_datetime(now + held.lease_ms)
    with transaction.atomic(using=settings.alias()):
        taken = _affects(_TAKE, [held.key, held.token, operation.endpoint, moment, until, moment])
        if taken and call.lease is not None:
            check_lease(call.lease)
    return taken


def _holder(key: str) -> str:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_HOLDER, [key])
        row = cursor.fetchone()
    return str(row[0]) if row else "another call"


@contextmanager
def _renewed(held: Held, *, renewing: bool) -> Iterator[None]:
    if not renewing:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_renew_until, args=(over, held), name="toa-lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _renew_until(over: threading.Event, held: Held) -> None:
    try:
        while not over.wait(held.lease_ms / 3000):
            try:
                if not held.renew():
                    logger.warning("the lock %s was taken over", held.key, extra={"action": "lock_lost"})
                    return
            except Error:
                # The database may be back before the lock lapses; the next round tries again.
                connections[settings.alias()].close()
    finally:
        connections[settings.alias()].close()


def _affects(sql: str, parameters: list[Any]) -> bool:
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, parameters)
        return bool(cursor.rowcount)


def _text(milliseconds: int) -> str:
    return format_duration(milliseconds)
