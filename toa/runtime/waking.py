"""Hints: telling beat, after a commit, that something comes due sooner than it may expect."""

from __future__ import annotations

import os
import threading
import time
from datetime import datetime, timedelta

from django.db import Error, connections, transaction

from toa.runtime import settings

CHANNEL = "toa"
"""The channel that beat and `toa run` listen on."""
BACKSTOP = timedelta(seconds=1)
"""Beat looks by itself this often; only what is due sooner is worth a hint."""
LEAST_GAP_S = 0.010
"""A process sends at most one hint in this time: one wakes beat as well as ten."""


class _Trailer:
    """Sends the hint that came too soon after another one, from a thread of its own.

    Dropping it would leave a call that committed just after beat's look to the backstop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._due = False

    def send_soon(self, seconds: float) -> None:
        with self._lock:
            if self._due and self._pid == os.getpid():
                return
            self._due, self._pid = True, os.getpid()
        timer = threading.Timer(seconds, self._send)
        timer.daemon = True
        timer.start()

    def _send(self) -> None:
        with self._lock:
            self._due = False
        _notify()
        connections[settings.alias()].close()


_trailer = _Trailer()
_last = 0.0


def after_commit(due: datetime, now: datetime) -> None:
    """Send a hint once the open transaction has committed, if `due` comes before beat's next look.

    Never inside the transaction: NOTIFY takes a lock at commit that all committing transactions share.
    """
    if due - now < BACKSTOP:
        transaction.on_commit(wake, using=settings.alias(), robust=True)


def wake() -> None:
    """Send a hint now, or within ten milliseconds."""
    global _last
    passed = time.monotonic() - _last
    if passed < LEAST_GAP_S:
        _trailer.send_soon(LEAST_GAP_S - passed)
    elif not connections[settings.alias()].in_atomic_block:
        _notify()


def _notify() -> None:
    # Losing a hint costs at most the backstop, so a failure to send is no failure of the caller.
    global _last
    _last = time.monotonic()
    connection = connections[settings.alias()]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, '')", [CHANNEL])
    except Error:
        connection.close_if_unusable_or_obsolete()
