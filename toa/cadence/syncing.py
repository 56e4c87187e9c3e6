"""Loading what manifests declare into rows: components, pulses, schedules. Only `migrate` and `toa sync` do it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.db import connections, transaction

from toa.cadence.pulses.rows import load_pulses, restart_pulses
from toa.cadence.schedules.rows import load_schedules, restart_schedules
from toa.core.clock import to_datetime
from toa.core.identity import digest, jsonable
from toa.core.specs import ComponentSpec
from toa.manifests import registry
from toa.models import Component
from toa.runtime import clock, settings

LOCK = 0x746F61
"""Of the advisory lock that keeps two syncs apart."""


@dataclass(slots=True, kw_only=True)
class Synced:
    """How many rows a sync wrote."""

    components: int = 0
    pulses: int = 0
    schedules: int = 0
    retired: int = 0


def sync() -> Synced:
    """Write the rows of this release's components, pulses and schedules. Rows of a newer release are left alone.

    A sync without a change moves nothing. A pulse is first called at the first boundary after it was stored, a
    schedule at its first occurrence after that; a change drops what is owed, and has nothing called at once.
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
        done.pulses, pulses_retired = load_pulses(newer, now)
        done.schedules, schedules_retired = load_schedules(newer, now)
        done.retired = pulses_retired + schedules_retired + _retire(newer, now)
    return done


def restart(now: int) -> None:
    """Let every pulse and schedule count from now (epoch ms), and drop what schedules had stored to be called.

    For a clock that was set: in tests, where nothing of what was before matters.
    """
    restart_pulses(now)
    restart_schedules(now)


def _newer() -> set[str]:
    rows = Component.objects.using(settings.alias()).filter(release__gt=settings.get("RELEASE"))
    return set(rows.values_list("locator", flat=True))


def mark_of(spec: ComponentSpec) -> str:
    """What tells a manifest that was synced from another."""
    return digest(jsonable(asdict(spec)))


def _sync_component(spec: ComponentSpec, now: int) -> int:
    manifest = jsonable(asdict(spec))
    rows = Component.objects.using(settings.alias())
    known = rows.filter(locator=spec.locator).first()
    mark = mark_of(spec)
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


def _retire(newer: set[str], now: int) -> int:
    gone = Component.objects.using(settings.alias()).filter(retired_at=None)
    return gone.exclude(locator__in=[*registry.all(), *newer]).update(retired_at=to_datetime(now))
