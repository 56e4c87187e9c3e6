"""Leases: the right to run a call outside a transaction, for a while, proved by a token.

The moment a lease ends is the row's `wake_at`, so a dead process's call comes due again by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connections

from toa.core.calling import Lease
from toa.core.clock import to_datetime
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
def renewed(lease: Lease, lease_ms: int, *, renewing: bool) -> Iterator[None]:
    """Keep a lease of `lease_ms` alive while the body runs, from a thread with a connection of its own.

    Without `renewing` nothing is renewed: for tests whose rows no other connection sees.
    """
    if not renewing:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_renew_until, args=(over, lease, lease_ms), name="toa-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _renew_until(over: threading.Event, lease: Lease, lease_ms: int) -> None:
    try:
        while not over.wait(lease_ms / 3000):
            try:
                if not renew(lease, lease_ms):
                    return
            except Error:
                # The database may be back before the lease ends; the next round tries again.
                connections[settings.alias()].close()
    finally:
        connections[settings.alias()].close()
