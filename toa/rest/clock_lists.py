"""What waits, what failed, what is on its way: lists for operators, a page at a time, from `toa.cadence`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from toa.cadence.actions import failures
from toa.cadence.reports import armed, deliveries, failed, pending, standing
from toa.core.clock import to_moment
from toa.core.duration import parse_duration
from toa.exceptions import InvalidDuration, InvalidQuery, NotFound
from toa.models import Delay, Failure
from toa.runtime import clock
from toa.workflow import reporting as told
from toa.workflow import reports as runs

Page = tuple[Sequence[Any], str | None]
"""Rows as data, and the mark where the next page begins; null where there is none."""

TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200}
FLAG: Mapping[str, Any] = {"type": "string", "enum": ["true", "false"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One list: who may read it, what it can be asked for, and how it is read."""

    name: str
    permission: str
    description: str
    read: Callable[[Mapping[str, str], int], Page]
    """Takes the parameters and the size of a page."""
    one: Callable[[str], dict[str, Any]] | None = None
    """Reads one row by the id of its path; raises NotFound."""
    by_pages: Callable[[str, int, int | None], tuple[dict[str, Any], int | None]] | None = None
    """In place of `one`: reads one row with a page of its parts, by the size of the page and the number that the page
    before ended with; returns the number that this one ends with, null on the last. Raises NotFound."""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Filters: name -> JSON Schema of a text."""
    paging: Sequence[str] = ("limit", "after")
    """Parameters of paging; none where everything is on one page."""


def identity_of(text: str) -> UUID:
    """The id that a path names. What is no id belongs to nothing: raises NotFound."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFound(text) from None


def _delays(given: Mapping[str, str], limit: int) -> Page:
    page = armed.page(
        endpoint=given.get("endpoint"),
        entity=given.get("entity"),
        overdue=given.get("overdue") == "true",
        within_ms=_duration(given, "within"),
        limit=limit,
        after=given.get("after"),
    )
    return [_delay(row, page.now) for row in page.calls], page.after


def _delay(row: Delay, now: int) -> dict[str, Any]:
    return {
        "id": row.id.hex,
        "endpoint": row.endpoint,
        "source": row.source,
        "entity": row.entity,
        "key": row.name,
        "request": row.request,
        "due": to_moment(row.due_at),
        "wake": None if row.wake_at is None else to_moment(row.wake_at),
        "state": armed.state(row, now),
        "attempts": row.attempt,
        "error": row.error,
        "overdue_ms": row.overdue_ms,
        "created": to_moment(row.created_at),
    }


def _delay_of(text: str) -> dict[str, Any]:
    row = armed.find(identity_of(text))
    if row is None:
        raise NotFound(text)
    return _delay(row, clock.clock().now())


def _deadlines(given: Mapping[str, str], limit: int) -> Page:
    within = _duration(given, "within")
    until = None if within is None else clock.clock().now() + within
    page = pending.pending(component=given.get("component"), until=until, limit=limit, after=given.get("after"))
    return [asdict(one) for one in page.deadlines], page.after


def _pulses(given: Mapping[str, str], limit: int) -> Page:
    return [asdict(one) for one in standing.pulses(clock.clock().now())], None


def _schedules(given: Mapping[str, str], limit: int) -> Page:
    return [asdict(one) for one in standing.schedules(clock.clock().now())], None


def _failures(given: Mapping[str, str], limit: int) -> Page:
    page = failed.page(
        endpoint=given.get("endpoint"), entity=given.get("entity"), limit=limit, after=given.get("after")
    )
    return [_failure(row) for row in page.failures], page.after


def _failure(row: Failure) -> dict[str, Any]:
    return {
        "id": row.id.hex,
        "call": row.call.hex,
        "endpoint": row.endpoint,
        "source": row.source,
        "entity": row.entity,
        "error": row.error,
        "attempts": row.attempts,
        "due": to_moment(row.due_at),
        "at": to_moment(row.at),
    }


def _failure_of(text: str) -> dict[str, Any]:
    row = failed.find(identity_of(text))
    if row is None:
        raise NotFound(text)
    more = {"request": row.request, "traceback": row.traceback, "parked_behind": failures.parked_behind(row)}
    return {**_failure(row), **more}


def _events(given: Mapping[str, str], limit: int) -> Page:
    page: Mapping[str, Any] = {"event": given.get("event", ""), "limit": limit, "after": given.get("after")}
    if given.get("settled") != "true":
        rows, after = deliveries.live(state=given.get("state", ""), **page)
        return [asdict(one) for one in rows], after
    if "state" in given:
        raise InvalidQuery("state: a settled event has none", hint="leave it out")
    lines, after = deliveries.settled(**page)
    return [asdict(one) for one in lines], after


def _runs(given: Mapping[str, str], limit: int) -> Page:
    asked: Mapping[str, Any] = {"endpoint": given.get("endpoint"), "limit": limit, "after": given.get("after")}
    if given.get("ended") != "true":
        if "outcome" in given:
            raise InvalidQuery("outcome: a run on its way has none", hint="ended=true, or state")
        page = runs.live(state=given.get("state"), **asked)
        return [told.of_run(run, page.now) for run in page.runs], page.after
    if "state" in given:
        raise InvalidQuery("state: a run that has ended has an outcome", hint="outcome")
    over = runs.ended(outcome=given.get("outcome"), **asked)
    now = clock.clock().now()
    return [told.of_run(run, now) for run in over.runs], over.after


def _run_of(text: str, limit: int, after: int | None) -> tuple[dict[str, Any], int | None]:
    shown = runs.show(identity_of(text), limit=limit, after=after)
    if shown is None:
        raise NotFound(text)
    return told.of_shown(shown, clock.clock().now()), shown.after


def _duration(given: Mapping[str, str], name: str) -> int | None:
    try:
        return parse_duration(given[name]) if name in given else None
    except InvalidDuration as error:
        raise InvalidQuery(f"{name}: {error.message}", hint=error.hint) from None


LISTINGS = (
    Listing(
        name="delays",
        permission="toa.view_delay",
        description="Stored calls that are still to be made, in order of time.",
        read=_delays,
        one=_delay_of,
        parameters={"endpoint": TEXT, "entity": TEXT, "overdue": FLAG, "within": TEXT},
    ),
    Listing(
        name="deadlines",
        permission="toa.view_component",
        description="The pending deadlines of every component, the earliest first.",
        read=_deadlines,
        parameters={"component": TEXT, "within": TEXT},
    ),
    Listing(
        name="pulses", permission="toa.view_pulse", description="Every pulse, on one page.", read=_pulses, paging=()
    ),
    Listing(
        name="schedules",
        permission="toa.view_schedule",
        description="Every schedule, on one page.",
        read=_schedules,
        paging=(),
    ),
    Listing(
        name="failures",
        permission="toa.view_failure",
        description="Calls that failed and wait for a person, the oldest first.",
        read=_failures,
        one=_failure_of,
        parameters={"endpoint": TEXT, "entity": TEXT},
    ),
    Listing(
        name="events",
        permission="toa.view_delivery",
        description="Events on their way, the oldest first; or those settled, the newest first.",
        read=_events,
        parameters={"event": TEXT, "state": {"type": "string", "enum": list(deliveries.STATES)}, "settled": FLAG},
    ),
    Listing(
        name="runs",
        permission="toa.view_run",
        description="Runs of workflows on their way, the earliest first; or those that have ended, the latest first."
        " One by its id, with its steps by pages, whether or not it has ended.",
        read=_runs,
        by_pages=_run_of,
        parameters={
            "endpoint": TEXT,
            "state": {"type": "string", "enum": list(runs.STATES)},
            "ended": FLAG,
            "outcome": {"type": "string", "enum": [one.value for one in runs.OUTCOMES]},
        },
    ),
)
