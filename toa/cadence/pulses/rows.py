"""Loading the declared pulses into rows."""

from __future__ import annotations

from collections.abc import Collection

from toa.cadence.declared import Declared, in_force
from toa.cadence.pulses.boundaries import grid_of, pass_over, rests
from toa.core.clock import to_datetime
from toa.core.identity import jsonable
from toa.core.specs import PulseScope, PulseSpec
from toa.models import Outcome, Pulse
from toa.runtime import settings

EDITED = "the pulse was changed"
REMOVED = "the pulse was removed"


def load_pulses(newer: Collection[str], now: int) -> tuple[int, int]:
    """Write the rows of pulses that changed and retire those declared no more; how many of each.

    `newer` are the components whose rows belong to a newer release: they are left alone. A row that does not change
    is neither locked nor written.
    """
    declared = {one.key: one for one in in_force().pulses if one.endpoint.rpartition(".")[0] not in newer}
    written = retired = 0
    for row in Pulse.objects.using(settings.alias()):
        wanted = declared.pop((row.endpoint, row.name), None)
        if wanted is not None:
            written += not _is_like(row, wanted) and _change(row, wanted, now)
        elif row.retired_at is None and row.endpoint.rpartition(".")[0] not in newer:
            retired += _retire(row, now)
    for wanted in declared.values():
        _create(wanted, now)
    return written + len(declared), retired


def restart_pulses(now: int) -> None:
    """Let every pulse count from now, as if it had been stored at this moment. For a clock that was set."""
    for row in Pulse.objects.using(settings.alias()).filter(retired_at=None, paused_at=None):
        row.running = row.token = row.started_at = row.fire_at = None
        _start_over(row, now)
        row.save()


def _columns(wanted: Declared[PulseSpec]) -> dict[str, object]:
    spec = wanted.spec
    return {
        "cycle_ms": spec.cycle_ms,
        "intervals": spec.intervals,
        "scope": spec.scope.value,
        "query": jsonable(spec.query),
        "input": jsonable(spec.input),
        "overridden": wanted.overridden,
    }


def _is_like(row: Pulse, wanted: Declared[PulseSpec]) -> bool:
    return row.retired_at is None and all(getattr(row, name) == value for name, value in _columns(wanted).items())


def _create(wanted: Declared[PulseSpec], now: int) -> None:
    row = Pulse(endpoint=wanted.endpoint, name=wanted.spec.name, **_columns(wanted))
    _start_over(row, now)
    row.save(using=settings.alias())


def _change(found: Pulse, wanted: Declared[PulseSpec], now: int) -> bool:
    row, spec = _locked(found), wanted.spec
    returned = row.retired_at is not None
    moved = (row.cycle_ms, row.intervals, row.scope) != (spec.cycle_ms, spec.intervals, spec.scope.value)
    if moved and not returned:
        _drop_owed(row, now, EDITED)
    row.retired_at = None
    for name, value in _columns(wanted).items():
        setattr(row, name, value)
    if moved or returned:
        _start_over(row, now)
    row.save()
    return True


def _retire(found: Pulse, now: int) -> bool:
    row = _locked(found)
    _drop_owed(row, now, REMOVED)
    row.retired_at = to_datetime(now)
    row.fire_at = row.fire_at if row.token else None
    row.wake_at = row.wake_at if row.token else None  # a call under way keeps its lease
    row.save()
    return True


def _drop_owed(row: Pulse, now: int, why: str) -> None:
    """Boundaries that are due and not called are over: those of a pulse that rests are told of when it goes on."""
    ordinal = grid_of(row).ordinal(now)
    if row.scope == PulseScope.GROUP and row.token is None and not rests(row) and ordinal > row.cursor:
        pass_over(row, Outcome.MISSED, ordinal, now, why)


def _start_over(row: Pulse, now: int) -> None:
    """First called at the first boundary after now; a call under way goes on, as one of the grid as it is now."""
    grid = grid_of(row)
    row.cursor = grid.ordinal(now)
    if row.token is not None:
        row.running = row.cursor
    elif row.paused_at is None and row.scope == PulseScope.GROUP:
        row.wake_at = to_datetime(grid.next_after(now))
    else:
        row.wake_at = None


def _locked(found: Pulse) -> Pulse:
    return Pulse.objects.using(settings.alias()).select_for_update().get(id=found.id)
