"""One object's time as two lists: the moments ahead of it, the next first, and what happened, the newest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toa.cadence.explaining.facts import SHOWN, Facts, Line
from toa.cadence.explaining.gathering import called_by, run_of
from toa.core.clock import to_moment
from toa.core.deadlines import CLOSED, DISCARDED, FAILED
from toa.models import Revision
from toa.runtime import settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """Something that is still to come. Moments are epoch ms."""

    at: int | None
    """Null: it waits for something else than a moment, which `note` says."""
    kind: str
    """`deadline`, `moment`, `hold`, `delay`, `delivery`, `pulse` or `schedule`."""
    what: str
    endpoint: str
    """What is called then; empty for a moment that calls nothing by itself."""
    note: str
    id: str = ""
    """Of a delay or a delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Something that happened. Moments are epoch ms."""

    at: int
    endpoint: str
    version: int | None
    """Of a commit; null for a call that committed nothing here."""
    by: str
    """What called it."""
    outcome: str
    """Of a settled call: made, refused, …, with its code; of a commit empty."""
    changes: dict[str, list[Any]]
    """Of a commit: property -> [before, after]."""
    reached: str
    outside: bool
    """Whether the row had been changed beside operations before it."""
    call: str
    """Id of the settled call, or of the stored one that committed; else empty."""
    run: str
    """Id of the run whose step committed it, or that the settled call started; else empty."""


def ahead(facts: Facts) -> list[Ahead]:
    """What is due, and what comes next; what waits for something else than a moment comes last."""
    found = [*_moments(facts), *_calls(facts), *_rhythms(facts)]
    return sorted(found, key=lambda one: (one.at is None, one.at or 0))


def behind(facts: Facts) -> list[Behind]:
    """The latest commits of the object and the calls that concerned it; one query."""
    rows = Revision.objects.using(settings.alias()).filter(component=facts.component, entity=facts.id)
    found = list(rows.order_by("-version")[:SHOWN])
    # The commit of a stored call says what its line in the history says, and what it changed.
    told = {(row.cause or {}).get("call") for row in found}
    commits = [_commit(row) for row in found]
    lines = [_line(one) for one in facts.lines if one.outcome != "made" or one.call not in told]
    return sorted([*commits, *lines], key=lambda one: (one.at, one.version or 0), reverse=True)[:SHOWN]


def _commit(row: Revision) -> Behind:
    return Behind(
        at=to_moment(row.at),
        endpoint=row.endpoint,
        version=row.version,
        by=called_by(row.cause or {}),
        outcome="",
        changes=row.changes,
        reached=row.reached,
        outside=row.outside,
        call=str((row.cause or {}).get("call") or ""),
        run=run_of(row.cause or {}),
    )


def _line(line: Line) -> Behind:
    return Behind(
        at=line.at,
        endpoint=line.endpoint,
        version=None,
        by=f"a {line.source}{f' of {line.by}' if line.by else ''}",
        outcome=f"{line.outcome}: {line.code}" if line.code else line.outcome,
        changes={},
        reached="",
        outside=False,
        call=line.call,
        run=line.started,
    )


def _moments(facts: Facts) -> Iterator[Ahead]:
    over = facts.deleted is not None or facts.state in (CLOSED, DISCARDED)
    for one in facts.moments:
        pending = one.value is not None and (one.value > facts.now or one.transition is not None)
        if not pending or (over and one.transition is not None):
            continue
        parked = "parked until the failure is decided" if facts.state == FAILED and one.transition else ""
        yield Ahead(
            at=one.value,
            kind="deadline" if one.transition else "moment",
            what=one.property,
            endpoint=one.transition or "",
            note=parked,
        )
    if facts.held is not None:
        yield Ahead(at=facts.held.until, kind="hold", what="held until", endpoint="", note=facts.held.why)


def _calls(facts: Facts) -> Iterator[Ahead]:
    for call in facts.armed:
        tried = f"tried again after {call.error or f'{call.attempts} attempts'}" if call.attempts else ""
        state = "being made" if call.running else tried
        yield Ahead(
            at=call.due if call.wake is None or not call.attempts else call.wake,
            kind="delay",
            what="armed by this object" if call.own else "aimed at this object",
            endpoint=call.endpoint,
            note="parked" if call.wake is None else state,
            id=call.id,
        )
    for event in facts.deliveries:
        yield Ahead(
            at=None if event.behind else event.wake,
            kind="delivery",
            what=f"{event.event}, {'to' if event.incoming else 'from'} this object",
            endpoint=event.endpoint,
            note=f"behind {event.behind}" if event.behind else "",
            id=event.id,
        )


def _rhythms(facts: Facts) -> Iterator[Ahead]:
    for one in facts.rhythms:
        if one.declared and not one.fits and one.fits_from is None:
            continue
        if not facts.found or facts.deleted is not None:
            continue
        notes = [] if one.declared else ["may call it: selects in its own code"]
        if one.paused is not None:
            notes.append(f"paused by {one.paused_by}" if one.paused_by else "paused")
        yield Ahead(
            at=one.next,
            kind=one.kind,
            what=f"sweep of {one.criteria}" if one.criteria else one.kind,
            endpoint=f"{one.endpoint}#{one.name}" if one.name else one.endpoint,
            note=", ".join(notes),
        )
