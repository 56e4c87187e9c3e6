"""Connections on which no wait lasts beyond the deadline of the question that is being asked.

The time-outs of an HTTP client are for one wait each: an answer whose headers come a byte at a time keeps to all of
them, for as long as it likes.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

_deadline: ContextVar[float | None] = ContextVar("shop_outside_deadline", default=None)


class OutOfTime(Exception):
    """The deadline passed."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """End what this thread waits for on these connections at `deadline`, of the monotonic clock, by OutOfTime."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


class Transport(httpx.BaseTransport):
    """What `httpx.Client` takes as `transport`. Errors are those of httpcore, and OutOfTime."""

    def __init__(self, *, connections: int, idle_s: float) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=idle_s,
            network_backend=_Network(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


class _Network(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        with _bounded(timeout) as left:
            return _Stream(self._network.connect_tcp(host, port, left, local_address, socket_options))

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _bounded(timeout) as left:
            return self._stream.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with _bounded(timeout) as left:
            self._stream.write(buffer, left)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        with _bounded(timeout) as left:
            return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()


@contextmanager
def _bounded(timeout: float | None) -> Iterator[float | None]:
    """The time-out of one wait, cut to what is left until the deadline."""
    deadline = _deadline.get()
    if deadline is None:
        yield timeout
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise OutOfTime
    if timeout is not None and timeout < left:
        yield timeout
        return
    try:
        yield left
    except httpcore.TimeoutException as error:
        raise OutOfTime from error
