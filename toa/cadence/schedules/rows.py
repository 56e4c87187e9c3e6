"""Loading the declared schedules into rows."""

from __future__ import annotations

from collections.abc import Collection

from toa.cadence.declared import Declared, in_force
from toa.cadence.schedules.calendars import (
    counts_from,
    drop_owed,
    expect,
    move,
    paused,
    policy_of,
    recurrence_of,
    start_over,
)
from toa.core.clock import to_datetime, to_moment
from toa.core.identity import jsonable
from toa.core.owing import jittered
from toa.core.specs import ScheduleSpec
from toa.exceptions import InvalidSchedule, InvalidZone
from toa.models import Outcome, Schedule, ScheduledCall
from toa.runtime import settings, waking

EDITED = "the schedule was changed"
REMOVED = "the schedule was removed"


def load_schedules(newer: Collection[str], now: int) -> tuple[int, int]:
    """Write the rows of schedules that changed and retire those declared no more; how many of each.

    A change drops what is owed and never has anything called at once. Rows of the components in `newer` are left
    alone. A row that does not change is neither locked nor written.
    """
    declared = {one.key: one for one in in_force().schedules if one.endpoint.rpartition(".")[0] not in newer}
    written = retired = 0
    for row in Schedule.objects.using(settings.alias()):
        wanted = declared.pop((row.endpoint, row.name), None)
        if wanted is not None:
            written += _change(row, wanted, now) if not _is_like(row, wanted) else _follow_zone(row, now)
        elif row.retired_at is None and row.endpoint.rpartition(".")[0] not in newer:
            retired += _retire(row, now)
    for wanted in declared.values():
        _create(wanted, now)
    return written + len(declared), retired


def restart_schedules(now: int) -> None:
    """Let every schedule count from now, as if it had been stored at this moment. For a clock that was set."""
    ScheduledCall.objects.using(settings.alias()).all().delete()
    for row in Schedule.objects.using(settings.alias()).filter(retired_at=None, paused_at=None):
        move(row, now)
        start_over(row, now)
        row.save()


def _columns(wanted: Declared[ScheduleSpec]) -> dict[str, object]:
    spec = wanted.spec
    return {
        "expression": spec.expression,
        "zone": spec.zone,
        "overdue_ms": spec.overdue_ms,
        "catch_up": spec.catch_up,
        "each_max": spec.each_max,
        "each_window_ms": spec.each_window_ms,
        "overlap": spec.overlap,
        "gap": spec.gap,
        "fold": spec.fold,
        "jitter_ms": spec.jitter_ms,
        "query": jsonable(spec.query),
        "input": jsonable(spec.input),
    }


def _is_like(row: Schedule, wanted: Declared[ScheduleSpec]) -> bool:
    stopped = row.wake_at is None and row.paused_at is None and _goes_on(row)
    if row.retired_at is not None or row.overridden != wanted.overridden or stopped:
        return False
    return all(getattr(row, name) == value for name, value in _columns(wanted).items())


def _goes_on(row: Schedule) -> bool:
    """Whether there is an occurrence after the cursor. A schedule rests where there is none, and where it broke."""
    try:
        return recurrence_of(row).next_after(to_moment(row.cursor)) is not None
    except (InvalidSchedule, InvalidZone):
        return True


def _create(wanted: Declared[ScheduleSpec], now: int) -> None:
    row = Schedule(endpoint=wanted.endpoint, name=wanted.spec.name, overridden=wanted.overridden, **_columns(wanted))
    move(row, now)
    start_over(row, now)
    row.save(using=settings.alias())
    _tell(row, now)


def _change(found: Schedule, wanted: Declared[ScheduleSpec], now: int) -> bool:
    row, columns = _locked(found), _columns(wanted)
    edited = any(getattr(row, name) != value for name, value in columns.items())
    stopped = row.wake_at is None and row.paused_at is None
    row.overridden = wanted.overridden
    if edited or stopped:
        if row.retired_at is None:
            _drop_owed(row, now, EDITED)
        row.retired_at = None
        for name, value in columns.items():
            setattr(row, name, value)
        move(row, max(to_moment(row.cursor), now))
        start_over(row, now)
    row.save()
    _tell(row, now)
    return True


def _drop_owed(row: Schedule, now: int, why: str) -> None:
    if row.paused_at is None:
        drop_owed(row, now, why)
    else:
        drop_owed(row, now, paused(row), Outcome.SKIPPED)


def _follow_zone(found: Schedule, now: int) -> bool:
    """Where the rules of its zone were changed, what comes next comes at another moment, and late if that is over."""
    if _as_expected(found, now):
        return False
    row = _locked(found)
    if _as_expected(row, now):
        return False
    recurrence = recurrence_of(row)
    due = recurrence.next_after(counts_from(row))
    expect(row, due, None if due is None else jittered(recurrence, policy_of(row), due))
    row.save()
    _tell(row, now)
    return True


def _as_expected(row: Schedule, now: int) -> bool:
    """Whether the next occurrence is where it was expected. What is due already is dealt with by the next pass."""
    due = None if row.due_at is None else to_moment(row.due_at)
    return due is None or due <= now or recurrence_of(row).next_after(counts_from(row)) == due


def _retire(found: Schedule, now: int) -> bool:
    row = _locked(found)
    _drop_owed(row, now, REMOVED)
    row.retired_at = to_datetime(now)
    row.due_at = row.wake_at = None
    row.save()
    return True


def _tell(row: Schedule, now: int) -> None:
    if row.wake_at is not None:
        waking.after_commit(row.wake_at, to_datetime(now))


def _locked(found: Schedule) -> Schedule:
    return Schedule.objects.using(settings.alias()).select_for_update().get(id=found.id)
