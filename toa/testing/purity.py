"""The purity guard: a transition that queries the database or opens a socket fails the test, and says where."""

from __future__ import annotations

import socket
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from django.db import connections


class Impure(BaseException):
    """A function that has to be pure did something else. Not an `Exception`: neither the function nor the pass that
    runs it turns this into a failure that a test may not look at."""


@contextmanager
def pure() -> Iterator[None]:
    """Refuse queries on every connection of this thread, and connecting sockets, while one function runs."""

    def query(execute: Any, sql: str, params: Any, many: bool, context: Any) -> NoReturn:
        raise Impure(f"{_place()}: a pure function queried the database: {' '.join(sql.split())[:120]}")

    def connect(self: socket.socket, address: Any) -> NoReturn:
        raise Impure(f"{_place()}: a pure function opened a socket to {address!r}")

    with ExitStack() as stack:
        for connection in connections.all(initialized_only=True):
            stack.enter_context(connection.execute_wrapper(query))
        for name in ("connect", "connect_ex"):
            stack.enter_context(mock.patch.object(socket.socket, name, connect))
        yield


def _place() -> str:
    """The line of the operation that is running, or else of whoever asked."""
    frames = [frame for frame in traceback.extract_stack()[:-2] if "operations" in Path(frame.filename).parts]
    frame = frames[-1] if frames else traceback.extract_stack()[-3]
    return f"{frame.filename}:{frame.lineno}"
