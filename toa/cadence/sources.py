"""All sources of due work, and when the next of it is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connections

from toa.cadence.calls.due import DELAYS, DELIVERIES, StoredCalls
from toa.cadence.calls.orphans import Orphans
from toa.cadence.deadlines.due import DEADLINES
from toa.cadence.pulses.due import PULSES
from toa.cadence.schedules.due import SCHEDULES
from toa.cadence.source import Source
from toa.core.clock import to_moment
from toa.exceptions import UnknownEndpoint
from toa.runtime import clock, settings

ORPHANS = Orphans([one.kind for one in (DELIVERIES, DELAYS, SCHEDULES)])
"""Stored calls that this code cannot make."""

SOURCES: list[Source] = [DELIVERIES, DEADLINES, DELAYS, SCHEDULES, PULSES, ORPHANS]
"""In the order of their turns. Those of layers beside this one are added when the apps are ready."""


def add(*others: StoredCalls) -> None:
    """Add sources of stored calls, before the orphans, theirs included."""
    for one in others:
        if one not in SOURCES:
            SOURCES.insert(len(SOURCES) - 1, one)
            ORPHANS.kinds += (one.kind,)


def source(name: str) -> Source:
    """The source of that name."""
    for one in SOURCES:
        if one.name == name:
            return one
    raise UnknownEndpoint(f"no source of due work is called {name!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """What is due and what comes next, over all sources; epoch ms, null where there is none."""

    due: int | None
    """The oldest moment that is due."""
    newest: int | None
    """The newest moment that is due."""
    coming: int | None
    """The next moment that is not due yet."""
    now: int
    sources: frozenset[str] = frozenset()
    """Names of the sources of which something is due."""
    following: Mapping[str, int] = field(default_factory=dict)
    """When something comes due next of each source that has anything coming, by its name; epoch ms."""

    @property
    def next(self) -> int | None:
        """The earliest moment to look at, whether reached or not."""
        return self.coming if self.due is None else self.due


def lower(moment: int) -> None:
    """Have every source look from this moment (epoch ms) on: something old was seen that is still to be done."""
    for one in SOURCES:
        one.lower(moment)


def horizon(since: int | None = None) -> Horizon:
    """Look at all sources with one statement, by the database's clock.

    With `since` what is due before that moment may be left out; see `toa.cadence.watermark`.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    for one in SOURCES:
        sql, given = one.horizon(since)
        parts.append(f"SELECT '{one.name}', h.* FROM ({sql}) AS h")
        parameters += given
    union = " UNION ALL ".join(parts)
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(
            f"SELECT s.*, {clock.clock().expression()} FROM ({union}) AS s(name, due, newest, coming)", parameters
        )
        rows = [
            (name, *(None if value is None else to_moment(value) for value in moments))
            for name, *moments in cursor.fetchall()
        ]
    return Horizon(
        due=min((row[1] for row in rows if row[1] is not None), default=None),
        newest=max((row[2] for row in rows if row[2] is not None), default=None),
        coming=min((row[3] for row in rows if row[3] is not None), default=None),
        now=rows[0][4],
        sources=frozenset(row[0] for row in rows if row[1] is not None),
        following={row[0]: row[3] for row in rows if row[3] is not None},
    )
