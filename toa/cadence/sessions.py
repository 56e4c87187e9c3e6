"""The database sessions that fire: their settings, by which a frozen worker's locks end by themselves; and how a worker
keeps one from task to task."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from django.db import Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from toa.runtime import settings

_PREPARED: WeakSet[Any] = WeakSet()

_SETTINGS = {
    "default_transaction_isolation": "read committed",
    "idle_in_transaction_session_timeout": "10s",
    "client_connection_check_interval": "5s",
    "tcp_user_timeout": "15s",
}


def prepare_session() -> None:
    """Set the session of this thread's connection up for firing, once for each connection."""
    wrapper = connections[settings.alias()]
    wrapper.ensure_connection()
    if wrapper.connection in _PREPARED:
        return
    with wrapper.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(['set_config(%s, %s, false)'] * len(_SETTINGS))}",
            [part for pair in _SETTINGS.items() for part in pair],
        )
    _PREPARED.add(wrapper.connection)


class _Kept(threading.local):
    """What a thread of a worker keeps between two tasks."""

    wrapper: BaseDatabaseWrapper | None = None
    pid = 0


_kept = _Kept()


@contextmanager
def kept_session() -> Iterator[None]:
    """Have the body use a connection that this thread keeps from one body to the next.

    Celery closes those that Django has before and after each task. Opening another one takes longer than a pass that
    fires one call, and in a new session the database has to read its catalogue again for the first of each statement.
    """
    alias = settings.alias()
    before = connections[alias]
    connections[alias] = own = _take() or before.copy()
    try:
        yield
    except BaseException:
        _close(own)  # whatever it was, the next task begins anew
        raise
    else:
        if own.errors_occurred:
            _close(own)
        else:
            _kept.wrapper, _kept.pid = own, os.getpid()
    finally:
        connections[alias] = before


def end_session() -> None:
    """Give back what this thread keeps, at its end."""
    if (wrapper := _take()) is not None:
        _close(wrapper)


def _take() -> BaseDatabaseWrapper | None:
    """What is kept, unless it belongs to the process that this one was forked from, or the database has ended it."""
    wrapper, _kept.wrapper = _kept.wrapper, None
    if wrapper is None or _kept.pid != os.getpid():
        return None
    if wrapper.connection is not None and _has_word(wrapper.connection.fileno()):
        _close(wrapper)
        return None
    return wrapper


def _has_word(fileno: int) -> bool:
    # Nobody asked for anything: what there is to read is that the session has ended.
    ready = select.poll()
    ready.register(fileno, select.POLLIN)
    return bool(ready.poll(0))


def _close(wrapper: BaseDatabaseWrapper) -> None:
    with suppress(Error):
        wrapper.close()
