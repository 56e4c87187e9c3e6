"""Leases: the right to run a call outside a transaction, for a while, proved by a token.

The moment a lease ends is the row's `wake_at`, so a dead process's call comes due again by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connections

from toa.core.allowance import TookTooLong, limited
from toa.core.calling import Lease
from toa.core.clock import to_datetime
from toa.core.specs import OperationSpec
from toa.runtime import clock, settings


def renew(lease: Lease, lease_ms: int) -> bool:
    """Move the end of the lease on; false where the token is not ours any more."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(
            f"UPDATE {lease.table} SET wake_at = %s WHERE id = %s AND token = %s",
            [to_datetime(clock.clock().now() + lease_ms), lease.id, lease.token],
        )
        return bool(cursor.rowcount)


@contextmanager
def running(lease: Lease, operation: OperationSpec, *, renewing: bool) -> Iterator[None]:
    """Around an effect that runs under a lease: keep the lease alive, and end the effect after its time-out.

    The lease is renewed from a thread with a connection of its own; without `renewing` it is not, for tests whose
    rows no other connection sees. In a process's main thread an effect that takes longer than its `timeout` is ended
    by TimeoutError; in any other its lease is no longer renewed, and what it still asks for is refused.
    """
    over = threading.Event()
    thread: threading.Thread | None = None
    if renewing:
        arguments = (over, lease, operation.lease_ms, operation.timeout_ms)
        thread = threading.Thread(target=_renew_until, args=arguments, name="toa-lease", daemon=True)
        thread.start()
    try:
        with limited(operation.timeout_ms):
            yield
    except TookTooLong as error:
        connection = connections[settings.alias()]
        if not connection.in_atomic_block:
            connection.close()  # it may have been ended in the middle of a statement
        raise TimeoutError(str(error)) from error
    finally:
        over.set()
        if thread is not None:
            thread.join()


def _renew_until(over: threading.Event, lease: Lease, lease_ms: int, timeout_ms: int) -> None:
    ends = time.monotonic() + timeout_ms / 1000
    try:
        while not over.wait(lease_ms / 3000) and time.monotonic() < ends:
            try:
                if not renew(lease, lease_ms):
                    return
            except Error:
                # The database may be back before the lease ends; the next round tries again.
                connections[settings.alias()].close()
    finally:
        connections[settings.alias()].close()
