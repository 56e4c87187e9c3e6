"""Calls that take their process with them.

Before user code runs, and once the call's own row is locked, the call's id is written into the process's row, on a
connection of its own that commits at once; it is cleared before the lock is given back. An id that stands in another
process's row, while the call's own row is free, was therefore being run by a process that died.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

from django.db import Error, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from toa.cadence.serving import serves
from toa.runtime import settings
from toa.runtime.sending import run, together
from toa.runtime.sql import array

# Evidence has to outlive this process, not the database: its commit does not wait for the disk.
_WRITE = """
INSERT INTO toa_process (id, kind, host, pid, started_at, seen_at, capacity, skew_ms, running)
SELECT %s::uuid, 'pass', %s, %s::integer, statement_timestamp(), statement_timestamp(), 0, 0, %s::uuid[]
 WHERE set_config('synchronous_commit', 'off', true) = 'off' AND set_config('lock_timeout', '100ms', true) <> ''
ON CONFLICT (id) DO UPDATE SET running = excluded.running, seen_at = excluded.seen_at
"""
_CLEAR = "UPDATE toa_process SET running = '{}' WHERE id = %s"
_HOST = socket.gethostname()[:255]
_ACCUSED = """
SELECT r.id, bool_and(cardinality(p.running) > 1) FROM toa_process p CROSS JOIN LATERAL unnest(p.running) AS r(id)
 WHERE p.id <> %s AND p.running <> '{}' AND r.id = ANY(%s) GROUP BY r.id
"""
# As text: it goes back to the database as it came.
_NAMED = """
SELECT array_agg(r.id)::text FROM toa_process p CROSS JOIN LATERAL unnest(p.running) AS r(id)
 WHERE p.id <> %s AND p.running <> '{}'
"""
_ACQUIT = """
UPDATE toa_process SET running = ARRAY(SELECT r.id FROM unnest(running) AS r(id) WHERE r.id <> ALL(%s::uuid[]))
 WHERE id <> %s AND running && %s::uuid[]
"""


class Docket:
    """What one thread of this process is about to run."""

    def __init__(self) -> None:
        self.id = uuid4()
        self.pid = os.getpid()
        self._own: BaseDatabaseWrapper | None = None
        self._written = False
        """Whether calls stand in the row, as far as is known."""
        self._clearing = False
        """Whether the open transaction clears it."""

    def write(self, identities: Sequence[UUID]) -> None:
        """Say what is about to run; committed at once. Saying nothing twice costs nothing."""
        if not identities and not self._written:
            return
        self._execute(_WRITE, [self.id, _HOST, self.pid, array(identities)])
        self._written, self._clearing = bool(identities), False

    def clear(self) -> None:
        """Say that what was about to run is done, in the open transaction, as the last of its statements."""
        if self._written:
            run(_CLEAR, [self.id])
            self._clearing = True

    @property
    def clearing(self) -> bool:
        """Whether the open transaction clears it."""
        return self._clearing

    def cleared(self) -> None:
        """The transaction that cleared it has committed."""
        if self._clearing:
            self._written = self._clearing = False

    def named(self) -> str | None:
        """What other processes are running, or were when they died, as the text of an array of ids; null: nothing."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(_NAMED, [self.id])
            return cursor.fetchone()[0]  # type: ignore[no-any-return]

    def accused(self, identities: Sequence[UUID]) -> dict[UUID, bool]:
        """Which of these calls some other process was about to run, and has not said that it is done with; and
        whether it was about to run others as well, so that it may have come to grief over one of them."""
        if not identities:
            return {}
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(_ACCUSED, [self.id, array(identities)])
            return dict(cursor.fetchall())

    def acquit(self, *identities: UUID) -> None:
        """Take calls off every other process's row, in the open transaction, once the strikes are counted."""
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(_ACQUIT, [array(identities), self.id, array(identities)])

    def _execute(self, sql: str, parameters: list[Any]) -> None:
        if self._own is None:
            self._own = connections[settings.alias()].copy()
        try:
            with self._own.cursor() as cursor:
                cursor.execute(sql, parameters)
        except Error:
            self._own.close()
            raise

    def close(self) -> None:
        """Take the row away and give the connection back, at the end of the thread or process."""
        if self._own is not None:
            self._execute("DELETE FROM toa_process WHERE id = %s", [self.id])
            self._own.close()


@contextmanager
def noted(docket: Docket | None) -> Iterator[None]:
    """Clear the docket at the end of a transaction, before its locks are given back: nobody finds a row free whose
    call stands in the docket of a process that lives."""
    try:
        yield
    finally:
        # Not reached where the process dies, which is the point.
        if docket is not None and not docket.clearing:
            docket.write([])


@contextmanager
def deciding(docket: Docket | None) -> Iterator[None]:
    """A transaction that decides calls: what it writes is sent together, and the docket is cleared with it."""
    try:
        with transaction.atomic(using=settings.alias()), noted(docket), together():
            yield
            if docket is not None:
                docket.clear()
    except BaseException:
        # What was not committed did not clear it. Where its row is still locked, the next one that writes it does.
        if docket is not None:
            with suppress(Error):
                docket.write([])
        raise
    if docket is not None:
        docket.cleared()


_local = threading.local()


def close() -> None:
    """Give up this thread's docket, at its end."""
    found: Docket | None = getattr(_local, "docket", None)
    if found is not None and found.pid == os.getpid():
        found.close()
        del _local.docket


def docket() -> Docket | None:
    """This thread's docket, a new one after a fork; null in a process that does not serve."""
    if not serves():
        return None
    found: Docket | None = getattr(_local, "docket", None)
    if found is None or found.pid != os.getpid():
        found = _local.docket = Docket()
    return found
