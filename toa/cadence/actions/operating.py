"""What a person does about pulses and schedules: pause, resume, have one called now.

Each answers what it did. Two people who act at once act one after the other, and the second is told so.
"""

from __future__ import annotations

import logging

from django.db import transaction

from toa.cadence.pulses import boundaries
from toa.cadence.schedules import calendars
from toa.cadence.schedules.calls import Running, rows_of, running, store
from toa.core.clock import to_datetime
from toa.core.owing import Owed
from toa.core.specs import PulseScope
from toa.exceptions import NotFound
from toa.models import Outcome, Pulse, Schedule
from toa.runtime import clock, settings, waking
from toa.runtime.journal import write_history

logger = logging.getLogger("toa.cadence")

PAUSE_PULSE, FIRE_PULSE = "toa.pause_pulse", "toa.fire_pulse"
PAUSE_SCHEDULE, FIRE_SCHEDULE = "toa.pause_schedule", "toa.fire_schedule"
"""The permissions. Whoever may pause may resume."""

PAUSED, RESUMED, FIRED = "paused", "resumed", "fired"
ALREADY_PAUSED, NOT_PAUSED, ALREADY_ASKED = "already paused", "not paused", "already asked for"
BEING_MADE = "being made"
RETIRED = "retired"
EACH_PROCESS = "each process calls it by itself"

_NAME = 150
"""Characters that are kept of the name of who asked."""


def pause(one: Pulse | Schedule, by: str) -> str:
    """Let nothing be called from now on; a call that runs finishes. What is due already is dropped and recorded.

    Answers `paused`, `already paused` or `retired`.
    """
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        row = _locked(one)
        if row.retired_at is not None:
            return RETIRED
        if row.paused_at is not None:
            return ALREADY_PAUSED
        row.paused_by = by[:_NAME]
        if isinstance(row, Pulse):
            _pass_over(row, now)
            row.paused_at = to_datetime(now)
            if row.token is None and row.fire_at is None:
                row.wake_at = None
        else:
            calendars.drop_owed(row, now, calendars.paused(row))
            row.paused_at = to_datetime(now)
            calendars.expect(row, None, None)
        row.save()
    return _done(PAUSED, row, by)


def resume(one: Pulse | Schedule, by: str) -> str:
    """Go on at the next boundary or occurrence after now. What passed meanwhile is recorded as skipped, in one line.

    Answers `resumed`, `not paused` or `retired`.
    """
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        row = _locked(one)
        if row.retired_at is not None:
            return RETIRED
        if row.paused_at is None:
            return NOT_PAUSED
        if isinstance(row, Pulse):
            _pass_over(row, now)
            row.paused_at, row.paused_by = None, ""
            if row.token is None and row.fire_at is None and row.scope == PulseScope.GROUP:
                row.wake_at = to_datetime(boundaries.grid_of(row).next_after(now))
        else:
            calendars.drop_owed(row, now, calendars.paused(row), Outcome.SKIPPED)
            row.paused_at, row.paused_by = None, ""
            calendars.start_over(row, now)
        row.save()
        _tell(row, now)
    return _done(RESUMED, row, by)


def fire(one: Pulse | Schedule, by: str) -> str:
    """Have it called now, beside its grid or calendar, which go on as if nothing had been; paused or not.

    Answers `fired`; `being made` where a call of it runs, or is about to, and it allows one at a time; `already
    asked for`; `retired`; for a pulse of scope `replica`, `each process calls it by itself`.
    """
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        row = _locked(one)
        if row.retired_at is not None:
            return RETIRED
        refusal = _fire_pulse(row, by, now) if isinstance(row, Pulse) else _fire_schedule(row, by, now)
        if refusal is not None:
            return refusal
        waking.after_commit(to_datetime(now), to_datetime(now))
    return _done(FIRED, row, by)


def _fire_pulse(row: Pulse, by: str, now: int) -> str | None:
    if row.scope != PulseScope.GROUP:
        return EACH_PROCESS
    if row.token is not None:
        return BEING_MADE
    if row.fire_at is not None:
        return ALREADY_ASKED
    row.fire_at = row.wake_at = to_datetime(now)
    row.fire_by = by[:_NAME]
    row.save()
    return None


def _fire_schedule(row: Schedule, by: str, now: int) -> str | None:
    if row.overlap != "allow" and running([row.id]).get(row.id, Running()).occurrences:
        return BEING_MADE
    owed = Owed(at=now, last=now, missed=0, planned=now, planned_last=now)
    calls = rows_of(row, owed, now, made_up=False, asked_by=by)
    store(calls)
    if row.query is not None:
        write_history([calendars.swept(row, owed, len(calls), now, by)])
    return None


def _pass_over(row: Pulse, now: int) -> None:
    """The boundaries up to now are not called: those that are due, and those that passed in a pause."""
    ordinal = boundaries.grid_of(row).ordinal(now)
    if row.scope == PulseScope.GROUP and row.token is None and ordinal > row.cursor:
        boundaries.pass_over(row, Outcome.SKIPPED, ordinal, now, boundaries.paused(row))


def _locked(one: Pulse | Schedule) -> Pulse | Schedule:
    rows = type(one)._default_manager.using(settings.alias()).select_for_update()
    row = rows.filter(pk=one.pk).first()
    if row is None:
        raise NotFound(f"{one} is not there any more")
    return row


def _tell(row: Pulse | Schedule, now: int) -> None:
    if row.wake_at is not None:
        waking.after_commit(row.wake_at, to_datetime(now))


def _done(did: str, row: Pulse | Schedule, by: str) -> str:
    logger.info("%s %s, by %s", row, did, by, extra={"action": did, "endpoint": row.endpoint, "by": by})
    return did
