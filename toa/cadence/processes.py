"""Which beats and workers are alive: one row for each process, renewed by itself."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from datetime import UTC, datetime
from uuid import uuid4

from django.db import Error, connections

from toa.core.clock import to_datetime
from toa.models import Process
from toa.models.fields import whole_milliseconds
from toa.runtime import clock, settings

logger = logging.getLogger("toa.cadence")

EVERY_S = 5.0
"""How often a heartbeat is written, in seconds."""
ALIVE_MS = 15_000
"""A process whose heartbeat is older than this counts as gone, in ms."""
FORGET_MS = 3_600_000
"""Rows older than this are removed by the next process that starts, in ms."""
UNKNOWN_CAPACITY = 1_000
"""What is assumed before the first heartbeat of a worker."""
WARN_MS, STAND_DOWN_MS = 1_000, 5_000
"""How far this host's clock may be off the database's before it is said, and before the process stands down, in ms."""
ACCUSED_MS = 7 * 24 * FORGET_MS
"""The same of a process that died running something: its row is the evidence against that call."""

_BEAT = """
INSERT INTO toa_process (id, kind, host, pid, started_at, seen_at, capacity, skew_ms, running)
VALUES (%s, %s, %s, %s, statement_timestamp(), statement_timestamp(), %s, %s, '{}')
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, skew_ms = excluded.skew_ms
"""

_FORGET = """
DELETE FROM toa_process
 WHERE seen_at < statement_timestamp() - CASE running WHEN '{}' THEN %s ELSE %s END * interval '1 millisecond'
"""


class Heartbeat:
    """The heartbeat of this process.

    Heartbeats are written by the database's own clock, not by one that tests have set.
    """

    def __init__(self, kind: str, capacity: int = 0) -> None:
        self.kind = kind
        self.capacity = capacity
        """How many leased calls this process, with its children, runs side by side."""
        self.id = uuid4()
        self._last: float | None = None
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def beat(self) -> None:
        """Write the heartbeat if the last one is five seconds old. A failure is left to the next time."""
        if self._last is not None and time.monotonic() - self._last < EVERY_S:
            return
        first, self._last = self._last is None, time.monotonic()
        try:
            with connections[settings.alias()].cursor() as cursor:
                cursor.execute(
                    _BEAT, [self.id, self.kind, socket.gethostname()[:255], os.getpid(), self.capacity, clock.skew_ms()]
                )
                if first:
                    cursor.execute(
                        _FORGET,
                        [FORGET_MS, ACCUSED_MS],
                    )
        except Error as error:
            logger.warning("the heartbeat was not written: %s", error, extra={"action": "heartbeat_lost"})
            connections[settings.alias()].close_if_unusable_or_obsolete()

    def start(self) -> None:
        """Beat from a thread, for a process whose main thread is busy."""
        self._thread = threading.Thread(target=self._run, name="toa-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop beating and take the row away."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=EVERY_S)
        try:
            Process.objects.using(settings.alias()).filter(id=self.id).delete()
        except Error:
            # The row grows old by itself.
            connections[settings.alias()].close_if_unusable_or_obsolete()

    def _run(self) -> None:
        while True:
            self.beat()
            if self._over.wait(EVERY_S):
                break
        connections[settings.alias()].close()


def stands_down() -> bool:
    """Whether this host's clock is so far from the database's that the process had better do nothing.

    Nothing would run early: due is decided by the database. But a host whose clock is wrong by seconds is broken in a
    way that its leases, time-outs and logs are not made for.
    """
    try:
        clock.clock().now()  # samples the database's clock where the last sample is old
    except Error:
        return False  # without a database there is nothing to do wrong
    skew = clock.skew_ms()
    if abs(skew) > STAND_DOWN_MS:
        logger.error(
            "this host's clock is %d ms off the database's: standing down", skew, extra={"action": "stand_down"}
        )
        return True
    if abs(skew) > WARN_MS:
        logger.warning("this host's clock is %d ms off the database's", skew, extra={"action": "skew"})
    return False


def most_at_once() -> int:
    """How many calls of one endpoint may run side by side: half of what all workers together can run.

    An endpoint whose calls hang therefore leaves room for the others. Where no worker is known, as in tests, one
    process runs them one after another anyway.
    """
    known = capacity()
    return max(1, known // 2) if known else UNKNOWN_CAPACITY


def capacity() -> int:
    """How many leased calls all workers that are alive can run side by side; 0 where none is known."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(capacity), 0) FROM toa_process"
            " WHERE capacity > 0 AND seen_at > statement_timestamp() - %s * interval '1 millisecond'",
            [ALIVE_MS],
        )
        return int(cursor.fetchone()[0])


def alive(kind: str) -> list[Process]:
    """The processes of a kind whose heartbeat is fresh."""
    now = int(datetime.now(UTC).timestamp() * 1000) - clock.skew_ms()
    since = whole_milliseconds(to_datetime(now - ALIVE_MS))
    return list(Process.objects.using(settings.alias()).filter(kind=kind, seen_at__gte=since).order_by("started_at"))
