"""The clock of a running process: the database's time, sampled, and carried on by the monotonic clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction

from toa.core.clock import Clock, to_moment
from toa.runtime import settings

SAMPLE_EVERY_S = 10.0
"""How long a sampled offset is trusted, in seconds."""
SAMPLES = 2
"""How often the database is asked for one sample: a busy machine may answer one question late by several ms."""

_NOW_SQL = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8"


class SystemClock:
    """The database's clock, read every ten seconds; between readings the process's monotonic clock carries it on.

    Workers with wrong clocks therefore agree. In SQL it is `statement_timestamp()`, which is stable within a
    statement: an index can serve the comparison.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset_ms = 0.0
        self._sampled_at: float | None = None
        self.skew_ms = 0
        """This host's wall clock minus the database's, at the last sample."""

    def now(self) -> int:
        monotonic = time.monotonic()
        if self._sampled_at is None or monotonic - self._sampled_at > SAMPLE_EVERY_S:
            self._sample()
            monotonic = time.monotonic()
        return int(monotonic * 1000 + self._offset_ms)

    def expression(self) -> str:
        return "statement_timestamp()"

    def _sample(self) -> None:
        connection = connections[settings.alias()]
        if self._sampled_at is not None and connection.needs_rollback:
            return  # a broken transaction answers nothing; the old offset serves a little longer
        offsets = []
        with connection.cursor() as cursor:
            for _ in range(SAMPLES):
                before = time.monotonic()
                cursor.execute(_NOW_SQL)
                after = time.monotonic()
                database_ms = float(cursor.fetchone()[0])
                offsets.append(database_ms - after * 1000)
        with self._lock:
            # Taking the later end of the round trip makes the sampled clock late rather than early, and the sample that
            # took the shortest makes it the least late.
            self._offset_ms = max(offsets)
            self._sampled_at = after
            self.skew_ms = round(time.time() * 1000 - (after - before) * 500 - database_ms)


class SharedClock(SystemClock):
    """The database's clock plus an offset stored in one row, so that several processes can be moved together."""

    def now(self) -> int:
        return super().now() + self._stored()

    def expression(self) -> str:
        return (
            "(statement_timestamp() + coalesce((SELECT offset_ms FROM toa_clockoffset WHERE id = 1), 0)"
            " * interval '1 millisecond')"
        )

    def advance(self, duration: int) -> None:
        """Move every process's clock on by a duration in ms."""
        alias = settings.alias()
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute(
                "INSERT INTO toa_clockoffset (id, offset_ms) VALUES (1, %s)"
                " ON CONFLICT (id) DO UPDATE SET offset_ms = toa_clockoffset.offset_ms + excluded.offset_ms",
                [duration],
            )

    def _stored(self) -> int:
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute("SELECT offset_ms FROM toa_clockoffset WHERE id = 1")
            row = cursor.fetchone()
        return int(row[0]) if row else 0


_system: SystemClock | None = None
_override: Clock | None = None


def clock() -> Clock:
    """The clock in force: the one set by `use`, else the shared one where a setting allows it, else the system's."""
    global _system
    if _override is not None:
        return _override
    if _system is None:
        _system = SharedClock() if settings.get("SHARED_CLOCK") else SystemClock()
    return _system


def database_now() -> int:
    """The moment by the database itself, epoch ms, at the price of a query: for what must not run early by a
    millisecond nor be missed by one."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(f"SELECT {clock().expression()}")
        return to_moment(cursor.fetchone()[0])


def skew_ms() -> int:
    """This host's wall clock minus the database's, in ms, as last sampled; 0 while another clock is in force."""
    present = clock()
    return present.skew_ms if isinstance(present, SystemClock) else 0


@contextmanager
def use(other: Clock) -> Iterator[Clock]:
    """Put another clock in force for this process. For tests and rehearsals."""
    global _override
    before, _override = _override, other
    try:
        yield other
    finally:
        _override = before
