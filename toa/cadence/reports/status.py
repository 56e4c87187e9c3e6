"""How it stands: who is alive, what waits and since when, what needs a person. Every count is bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db import connections

from toa.cadence.calls.due import StoredCalls, known_endpoints
from toa.cadence.calls.orphans import Orphan
from toa.cadence.deadlines.due import components, unreadable
from toa.cadence.deadlines.indexed import indexed
from toa.cadence.processes import alive
from toa.cadence.reports.backlog import CEILING, Backlog, Count, Counted, backlog, count
from toa.cadence.sources import ORPHANS, SOURCES
from toa.core.clock import to_moment
from toa.models import Failure, Process, Pulse, Schedule
from toa.runtime import clock, settings

PAUSED_MOST = 100
"""Paused pulses and schedules that are named at most."""

_BEHIND = """
SELECT DISTINCT b.id FROM (
    SELECT * FROM toa_delivery c WHERE c.endpoint = %s AND c.wake_at IS NOT NULL ORDER BY c.wake_at, c.id LIMIT %s) c
 CROSS JOIN LATERAL (
    SELECT d.id FROM toa_delivery d WHERE d.source = c.source AND d.source_id = c.source_id AND d.receiver = c.receiver
       AND (d.version, d.position) > (c.version, c.position) AND d.endpoint <> c.endpoint LIMIT %s) b
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """One kind of due work. Moments are epoch ms."""

    name: str
    late: int | None
    """Since when the oldest of it waits; null: nothing of it is due."""
    next: int | None
    """When the next of it comes due."""
    calls: Backlog | None
    """Counts, where it is kept as stored calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanStatus:
    """Calls of an endpoint that this code does not know."""

    orphan: Orphan
    calls: Count
    behind: Count
    """Of events: how many later ones of the same objects wait behind them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The facts, read one after another. `now` is epoch ms."""

    now: int
    beats: tuple[Process, ...]
    workers: tuple[Process, ...]
    runs: tuple[Process, ...]
    ticked: bool
    """Whether ticks came within the last seconds, whoever sent them."""
    sources: tuple[SourceStatus, ...]
    failures: Count
    oldest_failure: int | None
    orphans: tuple[OrphanStatus, ...]
    paused: tuple[str, ...]
    """Pulses and schedules that somebody paused, at most a hundred."""
    unreadable: Mapping[str, Count]
    """By component, rows that SQL gave a moment before the year 1: nothing of them comes due."""

    @property
    def processes(self) -> tuple[Process, ...]:
        """Whoever is alive."""
        return (*self.beats, *self.workers, *self.runs)

    @property
    def effects_at_once(self) -> int:
        """How many leased calls all processes together run side by side."""
        return sum(process.capacity for process in self.processes)

    @property
    def parked(self) -> Count:
        """Calls that are held back until somebody decides about a failure."""
        return sum((one.calls.parked for one in self.sources if one.calls is not None), Count(0))

    @property
    def next(self) -> int | None:
        """When the next of anything comes due, epoch ms."""
        return min((one.next for one in self.sources if one.next is not None), default=None)


def read() -> Status:
    """Ask the database how it stands."""
    failures = Failure.objects.using(settings.alias())
    oldest = failures.order_by("at").values_list("at", flat=True).first()
    return Status(
        now=clock.clock().now(),
        beats=tuple(alive("beat")),
        workers=tuple(alive("worker")),
        runs=tuple(alive("run")),
        ticked=bool(alive("tick")),
        sources=tuple(_source(source) for source in SOURCES if source is not ORPHANS),
        failures=count("SELECT 1 FROM toa_failure", []),
        oldest_failure=None if oldest is None else to_moment(oldest),
        orphans=tuple(_orphan(orphan) for orphan in ORPHANS.found()),
        paused=tuple(_paused()),
        unreadable=unreadable_rows(),
    )


def unreadable_rows() -> dict[str, Count]:
    """By component with deadlines, how many rows have a moment that no code can read; those without are left out."""
    found = {one.locator: sum((count(rows, []) for rows in unreadable(one)), Count(0)) for one in indexed(components())}
    return {locator: number for locator, number in found.items() if number}


def _source(source: Any) -> SourceStatus:
    sql, parameters = source.horizon()
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(sql, parameters)
        due, _, coming = (None if value is None else to_moment(value) for value in cursor.fetchone())
    if isinstance(source, Counted):
        counted = source.backlog()
        return SourceStatus(name=source.name, late=counted.oldest, next=coming, calls=counted)
    if not isinstance(source, StoredCalls):
        return SourceStatus(name=source.name, late=due, next=coming, calls=None)
    calls = backlog(source.kind, list(chain(*known_endpoints())))
    return SourceStatus(name=source.name, late=calls.oldest, next=coming, calls=calls)


def _orphan(orphan: Orphan) -> OrphanStatus:
    sql = f"SELECT 1 FROM {orphan.kind.table} c WHERE c.endpoint = %s AND c.wake_at IS NOT NULL"
    behind = count(_BEHIND, [orphan.endpoint, CEILING, CEILING]) if orphan.kind.parks else Count(0)
    return OrphanStatus(orphan=orphan, calls=count(sql, [orphan.endpoint]), behind=behind)


def _paused() -> list[str]:
    found: list[str] = []
    for model in (Pulse, Schedule):
        rows = model._default_manager.using(settings.alias()).filter(paused_at__isnull=False, retired_at=None)
        found += [f"{endpoint}#{name}" if name else endpoint for endpoint, name in rows.values_list("endpoint", "name")]
    return found[:PAUSED_MOST]
