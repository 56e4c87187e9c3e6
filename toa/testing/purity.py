"""The purity guard: a transition that queries the database or opens a socket fails the test, and says where."""

from __future__ import annotations

import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from django.db import connections


class Impure(BaseException):
    """A function that has to be pure did something else. Not an `Exception`: neither the function nor the pass that
    runs it turns this into a failure that a test may not look at."""


@contextmanager
def pure() -> Iterator[None]:
    """Refuse queries on every connection of this thread, and connecting sockets, while one function runs."""

    def query(execute: Any, sql: str, params: Any, many: bool, context: Any) -> NoReturn:
        raise Impure(f"{_place()}: a pure function queried the database: {' '.join(sql.split())[:120]}")

    with ExitStack() as stack:
        for connection in connections.all(initialized_only=True):
            stack.enter_context(connection.execute_wrapper(query))
        stack.enter_context(_without_sockets())
        yield


class _Running(threading.local):
    """How many pure functions run in this thread, one within another."""

    depth = 0


_running = _Running()
_lock = threading.Lock()
_guarded = 0
"""How many pure functions run in this process."""


@contextmanager
def _without_sockets() -> Iterator[None]:
    """Refuse connecting sockets in this thread. Others go on connecting, and may be in here too: the first one that
    comes puts the guard up, the last one that goes takes it down."""
    global _guarded
    with _lock:
        _guarded += 1
        if _guarded == 1:
            for name in _CONNECTING:
                setattr(socket.socket, name, _guard(getattr(socket.socket, name)))
    _running.depth += 1
    try:
        yield
    finally:
        _running.depth -= 1
        with _lock:
            _guarded -= 1
            if _guarded == 0:
                for name in _CONNECTING:
                    # What it inherits from the socket of the C library shows again.
                    delattr(socket.socket, name)


_CONNECTING = ("connect", "connect_ex")


def _guard(connecting: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
    def connect(self: socket.socket, address: Any) -> Any:
        if _running.depth:
            raise Impure(f"{_place()}: a pure function opened a socket to {address!r}")
        return connecting(self, address)

    return connect


def _place() -> str:
    """The line of the operation that is running, or else of whoever asked."""
    frames = [frame for frame in traceback.extract_stack()[:-2] if "operations" in Path(frame.filename).parts]
    frame = frames[-1] if frames else traceback.extract_stack()[-3]
    return f"{frame.filename}:{frame.lineno}"
