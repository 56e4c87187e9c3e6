"""What comes due in the next hours, hour by hour: counts, each bounded, so that a page costs the same on a bad day.

A deadline counts where it is the next of its instance; a call where it was planned for that hour. What is due already
is no part of it: that is the backlog.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections

from toa.cadence.calls.due import endpoints_of
from toa.cadence.deadlines.due import components, looks, table_of
from toa.cadence.deadlines.indexed import lacking
from toa.cadence.pulses.boundaries import grid_of
from toa.cadence.reports.backlog import Count
from toa.cadence.schedules.calendars import recurrence_of
from toa.core.clock import to_datetime
from toa.core.duration import HOUR_MS
from toa.core.specs import OperationType, PulseScope
from toa.exceptions import InvalidSchedule, InvalidZone
from toa.models import Pulse, Schedule
from toa.runtime import clock, settings
from toa.runtime.bindings import Component

HOURS = 24
CEILING = 500
"""Where counting ends, in one hour of one kind and component."""
MOST = 200
"""Pulses, and schedules, that are looked at."""
SOURCES = ("deadline", "delay", "delivery", "schedule", "run", "pulse")
"""A run comes due when the wait of its workflow ends."""

# Each hour is a range of an index, read to its end or up to the ceiling: in its order, for without one the planner
# may collect the whole range first.
_HOURLY = """
SELECT h.hour - 1, (SELECT count(*) FROM (SELECT 1 FROM {rows}
                      WHERE {condition} AND {moment} >= h.begins AND {moment} < h.ends
                      ORDER BY {order} LIMIT {most}) AS counted)
  FROM unnest(%s::timestamptz[], %s::timestamptz[]) WITH ORDINALITY AS h(begins, ends, hour)
"""
_RUNS = "unnest(%s::text[]) AS e(endpoint), toa_run c"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One hour of the clock, or the part of it that is within the next 24. Moments are epoch ms."""

    begins: int
    ends: int
    counts: dict[str, Count]
    """By source; one that has nothing in that hour is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """The next 24 hours."""

    now: int
    hours: tuple[Hour, ...]


def coming() -> Coming:
    """Count what comes due in the next 24 hours by hour and source."""
    now = clock.clock().now()
    spans = list(_spans(now))
    counts: list[dict[str, Count]] = [{} for _ in spans]
    for source, found in _counted(spans):
        for hour, count in enumerate(found):
            if count:
                counts[hour][source] = counts[hour].get(source, Count(0)) + count
    hours = (Hour(begins=begins, ends=ends, counts=found) for (begins, ends), found in zip(spans, counts, strict=True))
    return Coming(now=now, hours=tuple(hours))


def _spans(now: int) -> Iterator[tuple[int, int]]:
    """Whole hours of the clock, of which the first and the last are cut: a moment later than now, up to 24 hours."""
    begins, over = now + 1, now + HOURS * HOUR_MS + 1
    while begins < over:
        ends = min(begins - begins % HOUR_MS + HOUR_MS, over)
        yield begins, ends
        begins = ends


def _counted(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, list[Count]]]:
    known = list(components())
    without = lacking(known)
    for component in known:
        # Without its index the whole table would be read.
        if component.locator not in without:
            yield "deadline", _deadlines(component, spans)
    for source in ("delay", "delivery"):
        yield source, _hourly(spans, f"toa_{source} c", "true", "c.due_at", "c.due_at, c.id")
    workflows = endpoints_of(OperationType.WORKFLOW)
    yield "run", _hourly(spans, _RUNS, "c.endpoint = e.endpoint", "c.wake_at", "c.wake_at, c.id", [workflows])
    rows = settings.alias()
    resting = {"paused_at": None, "retired_at": None}
    for pulse in Pulse.objects.using(rows).filter(**resting, scope=PulseScope.GROUP)[:MOST]:
        yield "pulse", [_boundaries(pulse, *span) for span in spans]
    for schedule in Schedule.objects.using(rows).filter(**resting)[:MOST]:
        yield "schedule", _occurrences(schedule, spans)


def _deadlines(component: Component, spans: Sequence[tuple[int, int]]) -> list[Count]:
    moment, condition, order = looks(component)[0]
    return _hourly(spans, f"{table_of(component)} c", condition, moment, order)


def _hourly(
    spans: Sequence[tuple[int, int]], rows: str, condition: str, moment: str, order: str, given: Sequence[Any] = ()
) -> list[Count]:
    """The rows of a FROM clause by the hour of a moment of theirs; `given` are the parameters of the clause."""
    sql = _HOURLY.format(rows=rows, condition=condition, moment=moment, order=order, most=CEILING + 1)
    with connections[settings.alias()].cursor() as cursor:
        begins, ends = zip(*((to_datetime(begin), to_datetime(end)) for begin, end in spans), strict=True)
        cursor.execute(sql, [*given, list(begins), list(ends)])
        found: dict[int, int] = dict(cursor.fetchall())
    return [Count(min(found[hour], CEILING), found[hour] > CEILING) for hour in range(len(spans))]


def _boundaries(pulse: Pulse, begins: int, ends: int) -> Count:
    grid = grid_of(pulse)
    return Count(grid.ordinal(ends - 1) - grid.ordinal(begins - 1))


def _occurrences(schedule: Schedule, spans: Sequence[tuple[int, int]]) -> list[Count]:
    """Of a schedule that can be read no more, which then has stopped, none."""
    try:
        recurrence = recurrence_of(schedule)
        found: list[Any] = [recurrence.missed(begins - 1, ends - 1) for begins, ends in spans]
    except (InvalidSchedule, InvalidZone):
        return [Count(0)] * len(spans)
    return [Count(0 if one is None else one.count) for one in found]
