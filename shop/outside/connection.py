"""This process's sessions with outside systems: one client for each, opened when first used, anew after a fork."""

from __future__ import annotations

import os
import threading
from typing import Any

from shop.outside.client import Client, Terms
from toa.core.duration import SECOND_MS, parse_duration

_lock = threading.Lock()
_open: dict[Terms, Client] = {}


def client(configuration: Any) -> Client | None:
    """The client of this process for a component's configuration; null where that names no address."""
    if not configuration.address:
        return None
    terms = Terms(
        address=configuration.address,
        token=configuration.token,
        connect_s=parse_duration(configuration.connect) / SECOND_MS,
        read_s=parse_duration(configuration.read) / SECOND_MS,
        whole_s=parse_duration(configuration.whole) / SECOND_MS,
        largest=configuration.largest,
    )
    with _lock:
        if terms not in _open:
            _open[terms] = Client(terms)
        return _open[terms]


def close() -> None:
    """End every session. The next question opens another one."""
    with _lock:
        while _open:
            _open.popitem()[1].close()


def _forget() -> None:
    """In a forked child: the connections are its parent's, and so is whoever holds the lock."""
    global _lock, _open
    _lock, _open = threading.Lock(), {}


os.register_at_fork(after_in_child=_forget)
