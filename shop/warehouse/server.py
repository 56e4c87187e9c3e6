"""The outside as a server: its socket, its threads, and its end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from typing import Any

from shop.warehouse.faults import Faults
from shop.warehouse.handler import Handler
from shop.warehouse.ledger import Ledger


class Warehouse(ThreadingHTTPServer):
    """Warehouse, courier and payment provider, on one address."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        *,
        token: str,
        ledger: Ledger | None = None,
        faults: Faults | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        log: Callable[[str], None] | None = None,
    ) -> None:
        """Listen on `port`, or on a free one for 0. `token` is what customers show; `log` is told of each request."""
        self.token = token
        self.ledger = ledger or Ledger()
        self.faults = faults or Faults()
        self.log = log or (lambda line: None)
        self.strayed = 0
        """Requests that followed a redirect."""
        self.opened = 0
        """Connections that were made."""
        self._over = threading.Event()
        self._connections: set[socket] = set()
        super().__init__((host, port), Handler)

    @property
    def address(self) -> str:
        """Where it is reached: `http://127.0.0.1:8100`."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def wait(self, seconds: float) -> bool:
        """Let time pass; returns at once, and says so, when the server is ending."""
        return self._over.wait(seconds)

    def end(self) -> None:
        """Take no more requests, cut every connection and let the ledger's file go."""
        self._over.set()
        self.shutdown()
        self.server_close()
        self.cut_connections()
        self.ledger.close()

    def cut_connections(self) -> None:
        """Close every connection from this side, as a restart would."""
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.opened += 1
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
        # Customers hang up, and connections that were reset here cannot be written to.
        if not isinstance(error, OSError | ValueError):
            super().handle_error(request, client_address)


@contextmanager
def serving(warehouse: Warehouse) -> Iterator[Warehouse]:
    """The warehouse answers while this lasts, from a thread of this process."""
    thread = threading.Thread(target=warehouse.serve_forever, args=(0.02,), name="warehouse", daemon=True)
    thread.start()
    try:
        yield warehouse
    finally:
        warehouse.end()
        thread.join()
