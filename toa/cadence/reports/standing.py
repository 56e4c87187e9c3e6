"""Where every pulse and schedule stands: for lists, pages and commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from toa.cadence.schedules.calendars import counts_from, policy_of, recurrence_of
from toa.cadence.schedules.calls import Running, running
from toa.cadence.schedules.wording import in_words
from toa.core.clock import to_datetime, to_moment
from toa.core.foresight import explanation
from toa.core.nearest import did_you_mean
from toa.core.owing import jittered
from toa.core.specs import PulseScope
from toa.core.zones import load_zone
from toa.exceptions import NotFound
from toa.models import Pulse, Schedule
from toa.runtime import settings

Row = TypeVar("Row", bound=Pulse | Schedule)


@dataclass(frozen=True, slots=True, kw_only=True)
class PulseStanding:
    """A pulse now. Moments are epoch ms."""

    endpoint: str
    name: str
    cycle_ms: int
    intervals: int
    scope: str
    state: str
    """`waiting`, `due`, `running`, `paused`, `retired`, or, of scope `replica`, `in each process`."""
    next: int | None
    """When it is looked at next; null while it runs or rests, and where each process keeps its own time."""
    since: int | None
    """While it runs, since when."""
    paused_by: str
    overridden: bool
    """The settings of this environment changed what the manifest says."""
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleStanding:
    """A schedule now. Moments are epoch ms."""

    endpoint: str
    name: str
    expression: str
    words: str
    zone: str
    state: str
    """`waiting`, `due`, `running`, `paused`, `retired`, or `stopped`: it has no next occurrence, or broke."""
    next: int | None
    """The next occurrence."""
    planned: int | None
    """The same with its jitter."""
    running: int
    """Occurrences that are being made or wait to be."""
    paused_by: str
    overridden: bool
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """An occurrence ahead. Moments are epoch ms."""

    at: int
    planned: int
    """The same with its jitter."""
    local: str
    """Its time on the wall of its zone, with the offset from UTC."""
    note: str
    """Why it is not simply where the expression says: a change of the clocks. Empty where it is."""


def pulses(now: int, *, retired: bool = False) -> list[PulseStanding]:
    """Every pulse, by endpoint and name; those declared no more only where asked for."""
    rows = Pulse.objects.using(settings.alias()).order_by("endpoint", "name")
    return [_pulse(row, now) for row in (rows if retired else rows.filter(retired_at=None))]


def schedules(now: int, *, retired: bool = False) -> list[ScheduleStanding]:
    """Every schedule, by endpoint and name; those declared no more only where asked for."""
    found = Schedule.objects.using(settings.alias()).order_by("endpoint", "name")
    rows = list(found if retired else found.filter(retired_at=None))
    made = running([row.id for row in rows])
    return [_schedule(row, made.get(row.id, Running()), now) for row in rows]


def find(kind: type[Row], name: str) -> Row:
    """The pulse or schedule called `endpoint` or `endpoint#name`; the endpoint alone is enough for the only one.

    Raises NotFound with the nearest name.
    """
    endpoint, _, own = name.partition("#")
    every: list[Row] = list(kind._default_manager.using(settings.alias()).all())  # type: ignore[arg-type]
    rows = [row for row in every if row.endpoint == endpoint]
    # One that is declared no more is meant only where no other can be.
    rows = [row for row in rows if row.retired_at is None] or rows
    chosen = [row for row in rows if row.name == own] or (rows if not own else [])
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise NotFound(f"{endpoint} has several: {', '.join(sorted(map(_name, chosen)))}")
    known = [_name(row) for row in every if row.retired_at is None]
    raise NotFound(f"no {kind.__name__.lower()} is called {name!r}", hint=did_you_mean(name, known))


def coming(row: Schedule, now: int, count: int) -> Iterator[Coming]:
    """The next occurrences, whether or not the schedule is paused. Raises InvalidZone where its zone is gone."""
    recurrence, policy, zone = recurrence_of(row), policy_of(row), load_zone(row.zone)
    at = recurrence.next_after(max(counts_from(row), now))
    while at is not None and count > 0:
        local = to_datetime(at).astimezone(zone)
        yield Coming(
            at=at,
            planned=jittered(recurrence, policy, at),
            local=f"{local:%a %Y-%m-%d %H:%M:%S} {local.isoformat()[-6:]}",
            note=explanation(recurrence, at),
        )
        at, count = recurrence.next_after(at), count - 1


def _pulse(row: Pulse, now: int) -> PulseStanding:
    state = _resting(row)
    if not state:
        if row.scope == PulseScope.REPLICA:
            state = "in each process"
        elif row.token is not None:
            state = "running"
        else:
            state = "due" if row.wake_at is not None and to_moment(row.wake_at) <= now else "waiting"
    waits = row.token is None and row.wake_at is not None
    return PulseStanding(
        endpoint=row.endpoint,
        name=row.name,
        cycle_ms=row.cycle_ms,
        intervals=row.intervals,
        scope=row.scope,
        state=state,
        next=to_moment(row.wake_at) if waits and row.wake_at is not None else None,
        since=None if row.started_at is None else to_moment(row.started_at),
        paused_by=row.paused_by,
        overridden=row.overridden,
        id=row.id.hex,
    )


def _schedule(row: Schedule, made: Running, now: int) -> ScheduleStanding:
    state = _resting(row)
    if not state:
        if row.wake_at is None:
            state = "stopped"
        elif to_moment(row.wake_at) <= now:
            state = "due"
        else:
            state = "running" if made.occurrences else "waiting"
    return ScheduleStanding(
        endpoint=row.endpoint,
        name=row.name,
        expression=row.expression,
        words=in_words(row.expression),
        zone=row.zone,
        state=state,
        next=None if row.due_at is None else to_moment(row.due_at),
        planned=None if row.wake_at is None else to_moment(row.wake_at),
        running=made.occurrences,
        paused_by=row.paused_by,
        overridden=row.overridden,
        id=row.id.hex,
    )


def _resting(row: Pulse | Schedule) -> str:
    if row.retired_at is not None:
        return "retired"
    return "paused" if row.paused_at is not None else ""


def _name(row: Pulse | Schedule) -> str:
    return f"{row.endpoint}#{row.name}" if row.name else row.endpoint
