"""All sources of due work, and when the next of it is due."""

from __future__ import annotations

from typing import Any

from django.db import connections

from toa.cadence.pulses import PULSES
from toa.cadence.source import Source
from toa.cadence.stored import DELAYS, DELIVERIES
from toa.core.clock import to_moment
from toa.exceptions import UnknownEndpoint
from toa.runtime import clock, settings

SOURCES: tuple[Source, ...] = (DELIVERIES, DELAYS, PULSES)


def source(name: str) -> Source:
    """The source of that name."""
    for one in SOURCES:
        if one.name == name:
            return one
    raise UnknownEndpoint(f"no source of due work is called {name!r}")


def next_due() -> tuple[int | None, int]:
    """The earliest moment at which something is to be looked at, and now, by the database: both epoch ms.

    One statement over all sources. Null where nothing waits.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    for one in SOURCES:
        sql, given = one.horizon()
        parts.append(f"({sql})")
        parameters += given
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(
            f"SELECT min(s.wake_at), {clock.clock().expression()} FROM ({' UNION ALL '.join(parts)}) s", parameters
        )
        due, now = cursor.fetchone()
    return (None if due is None else to_moment(due)), to_moment(now)
