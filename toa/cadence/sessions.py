"""Settings of the database sessions that fire: a frozen worker's locks end by themselves."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from django.db import connections

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
