"""What the coming changes of the clocks do to declared schedules, told before it happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from toa.cadence.declared import in_force
from toa.checks.ids import CLOCKS
from toa.core.foresight import TWO_YEARS_MS, touched
from toa.core.recurrence import Schedule
from toa.manifests import registry

_TOLD = 4
"""Changes of the clocks told of each schedule: two years of a zone that changes twice a year."""


def check_clocks(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """A warning for each schedule that falls into a gap or an overlap of its zone within two years."""
    try:
        declared = in_force().schedules
    except ImproperlyConfigured:
        return []  # the check of the settings tells why
    now = int(time.time() * 1000)
    found: list[checks.CheckMessage] = []
    for one in declared:
        spec = one.spec
        schedule = Schedule(spec.expression, spec.zone, gap=spec.gap, fold=spec.fold)  # type: ignore[arg-type]
        changes = [change.sentence for change in islice(touched(schedule, now, now + TWO_YEARS_MS), _TOLD)]
        if changes:
            name = f"{one.endpoint}#{spec.name}" if spec.name else one.endpoint
            found.append(
                checks.Warning(
                    f"the schedule {name} ({spec.expression!r}) is touched by changes of the clocks."
                    f" {'. '.join(changes)}",
                    hint="choose a time that every day has once; `gap` and `fold` say what happens otherwise",
                    obj=registry.endpoint(one.endpoint)[0].path,
                    id=CLOCKS,
                )
            )
    return found
