"""Waiting for a hint on a connection of its own."""

from __future__ import annotations

import logging
import threading
import time

import psycopg
from django.db import connections

from toa.runtime import settings
from toa.runtime.waking import CHANNEL

logger = logging.getLogger("toa.cadence")


class Listener:
    """Sleeps until a hint comes or the time is over.

    A lost connection only costs punctuality: without LISTEN the backstop still looks every second. It is opened at
    the first wait, so that it is never inherited through a fork.
    """

    def __init__(self) -> None:
        self._connection: psycopg.Connection | None = None
        self._over = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Whether a hint ended the wait."""
        if self._over.is_set() or seconds <= 0:
            return False
        began = time.monotonic()
        try:
            connection = self._connected()
            return any(True for _ in connection.notifies(timeout=seconds, stop_after=1))
        except psycopg.Error as error:
            logger.warning("listening for hints failed: %s", error, extra={"action": "listen_lost"})
            self._drop()
            self._over.wait(max(0.0, seconds - (time.monotonic() - began)))
            return False

    def close(self) -> None:
        """End waits and give the connection back."""
        self._over.set()
        self._drop()

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            wrapper = connections[settings.alias()]
            parameters = wrapper.get_connection_params()
            for name in ("cursor_factory", "context", "server_side_binding", "pool"):
                parameters.pop(name, None)
            self._connection = psycopg.connect(**parameters, autocommit=True)
            self._connection.execute(f"LISTEN {CHANNEL}")
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
