"""Loading what manifests declare into rows: components and pulses. Only `migrate` and `toa sync` do it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import connections, transaction

from toa.core.clock import to_datetime
from toa.core.duration import seconds_to_ms
from toa.core.grid import Grid
from toa.core.identity import digest, plain
from toa.core.specs import ComponentSpec, PulseScope, PulseSpec
from toa.exceptions import InvalidDuration, InvalidSchedule
from toa.manifests import registry
from toa.models import Component, Pulse
from toa.runtime import clock, settings

LOCK = 0x746F61
"""Of the advisory lock that keeps two syncs apart."""


@dataclass(slots=True, kw_only=True)
class Synced:
    """How many rows a sync wrote."""

    components: int = 0
    pulses: int = 0
    retired: int = 0


def sync() -> Synced:
    """Write the rows of this release's components and pulses. Rows of a newer release are left alone.

    A sync without a change moves nothing. A pulse is first called at the first boundary after it was stored, and after
    a change of its grid at the first boundary of the new one.
    """
    done = Synced()
    with transaction.atomic(using=settings.alias()):
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        now = clock.clock().now()
        newer = _newer()
        for spec in registry.all().values():
            if spec.locator not in newer:
                done.components += _sync_component(spec, now)
                done.pulses += _sync_pulses(spec, now)
        done.retired = _retire(newer, now)
    return done


def restart_pulses(now: int) -> None:
    """Let every pulse that runs count from now, as if it had been stored at this moment. For a clock that was set."""
    for row in Pulse.objects.using(settings.alias()).filter(retired_at=None, paused_at=None):
        row.running = row.token = row.started_at = None
        _restart(row, _grid(row), now)
        row.save(using=settings.alias())


def _newer() -> set[str]:
    rows = Component.objects.using(settings.alias()).filter(release__gt=settings.get("RELEASE"))
    return set(rows.values_list("locator", flat=True))


def _sync_component(spec: ComponentSpec, now: int) -> int:
    manifest = _plain(asdict(spec))
    rows = Component.objects.using(settings.alias())
    known = rows.filter(locator=spec.locator).first()
    mark = digest(manifest)
    if known is not None and known.digest == mark and known.retired_at is None:
        return 0
    operations = dict(known.operations) if known else {}
    for name, entry in operations.items():
        if name not in spec.operations:
            operations[name] = {"type": entry["type"], "retired_at": entry.get("retired_at") or now}
    operations |= {name: {"type": operation.type.value} for name, operation in spec.operations.items()}
    rows.update_or_create(
        locator=spec.locator,
        defaults={
            "description": spec.description,
            "manifest": manifest,
            "operations": operations,
            "digest": mark,
            "release": settings.get("RELEASE"),
            "synced_at": to_datetime(now),
            "retired_at": None,
        },
    )
    return 1


def _sync_pulses(spec: ComponentSpec, now: int) -> int:
    written = 0
    rows = Pulse.objects.using(settings.alias())
    for declared in spec.pulses:
        if declared.scope is not PulseScope.GROUP:
            continue
        endpoint = spec.endpoint(declared.operation)
        pulse, overridden = in_this_environment(endpoint, declared)
        row = rows.select_for_update().filter(endpoint=endpoint, name=pulse.name).first()
        row = row or Pulse(endpoint=endpoint, name=pulse.name, cursor=-1)
        grid = Grid(cycle_ms=pulse.cycle_ms, intervals=pulse.intervals)
        fresh = row._state.adding or row.retired_at is not None or _grid(row) != grid
        wanted = {
            "cycle_ms": pulse.cycle_ms,
            "intervals": pulse.intervals,
            "scope": pulse.scope.value,
            "query": _plain(pulse.query),
            "input": _plain(pulse.input),
            "overridden": overridden,
        }
        if not fresh and all(getattr(row, name) == value for name, value in wanted.items()):
            continue
        for name, value in wanted.items():
            setattr(row, name, value)
        if fresh:
            _restart(row, grid, now)
        row.save(using=settings.alias())
        written += 1
    return written


def _restart(row: Pulse, grid: Grid, now: int) -> None:
    row.retired_at = None
    row.cursor = grid.ordinal(now)
    if row.token is not None:
        row.running = row.cursor  # the call under way goes on, as one of the new grid
    elif row.paused_at is None:
        row.wake_at = to_datetime(grid.next_after(now))


def _retire(newer: set[str], now: int) -> int:
    moment = to_datetime(now)
    known = registry.all()
    pulses = [
        row
        for row in Pulse.objects.using(settings.alias()).filter(retired_at=None)
        if row.endpoint.rpartition(".")[0] not in newer and not _declared(known, row)
    ]
    for row in pulses:
        row.retired_at, row.wake_at = moment, row.wake_at if row.token else None
        row.save(using=settings.alias())
    gone = Component.objects.using(settings.alias()).filter(retired_at=None).exclude(locator__in=[*known, *newer])
    return len(pulses) + gone.update(retired_at=moment)


def _declared(known: Any, row: Pulse) -> bool:
    locator, _, operation = row.endpoint.rpartition(".")
    spec = known.get(locator)
    return spec is not None and any(
        (pulse.operation, pulse.name, pulse.scope) == (operation, row.name, PulseScope.GROUP) for pulse in spec.pulses
    )


def _grid(row: Pulse) -> Grid:
    return Grid(cycle_ms=row.cycle_ms, intervals=row.intervals)


def in_this_environment(endpoint: str, declared: PulseSpec) -> tuple[PulseSpec, bool]:
    """The pulse as this environment wants it: `TOA["CADENCE"][endpoint]` is seconds, or a mapping of cycle and
    intervals; several pulses of one operation are told apart as `endpoint#name`."""
    name = f"{endpoint}#{declared.name}" if declared.name else endpoint
    value = settings.get("CADENCE").get(name)
    if value is None:
        return declared, False
    given = value if isinstance(value, dict) else {"cycle": value}
    try:
        pulse = replace(
            declared,
            cycle_ms=seconds_to_ms(given["cycle"]) if "cycle" in given else declared.cycle_ms,
            intervals=given.get("intervals", declared.intervals),
        )
        Grid(cycle_ms=pulse.cycle_ms, intervals=pulse.intervals)
    except (InvalidDuration, InvalidSchedule) as error:
        raise ImproperlyConfigured(f"TOA['CADENCE'][{name!r}]: {error}") from error
    return pulse, True


def _plain(value: Any) -> Any:
    """Specs as JSON-ready data: sets as sorted lists, enums by their value."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else plain(value)
