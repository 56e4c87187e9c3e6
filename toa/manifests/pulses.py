"""Pulses: calls on a fixed grid."""

from __future__ import annotations

import re
from typing import Any

from toa.core.duration import seconds_to_ms
from toa.core.grid import Grid
from toa.core.specs import OperationSpec, OperationType, PulseScope, PulseSpec
from toa.exceptions import InvalidDuration, InvalidSchedule
from toa.manifests.fields import Fields
from toa.manifests.keys import PULSE, SCHEDULE
from toa.manifests.names import a_type
from toa.manifests.place import Place
from toa.manifests.problems import PULSE as BAD_PULSE
from toa.manifests.problems import TARGET, UNKNOWN_KEY
from toa.manifests.sweeps import Targets, check_sent, check_uncalled, read_sweep

_NUMBER_AND_UNIT = re.compile(r"[0-9.]+ ?[A-Za-z]{1,3}")
_CALENDAR_WORDS = frozenset({"at", "cron", "day", "days", "every", "hour", "month", "on", "time", "week", "weekday"})
_CALENDAR = 'a moment of the calendar is a schedule: { schedule: "0 9 * * mon", zone: Europe/Berlin }'


def read_pulse(place: Place, operation: OperationSpec, targets: Targets, name: str) -> PulseSpec | None:
    """The pulse at a place, or null where it does not hold."""
    before = place.report.errors()
    if isinstance(place.value, dict):
        fields = Fields(_without_calendar(place), PULSE)
        cycle, intervals = fields.get("cycle"), fields.integer("intervals", 1)
    else:
        fields, cycle, intervals = Fields(Place(place.report, place.path), PULSE), place, 1
    if cycle is None:
        if place.report.errors() == before:
            place.error("a pulse needs a cycle", hint=f"cycle: 300 is every five minutes; {_CALENDAR}", id=BAD_PULSE)
        return None
    cycle_ms = _cycle(cycle, intervals)
    scope = PulseScope(fields.text("scope", PulseScope.GROUP.value))
    asked = _asked(place, fields, operation, targets, scope, intervals)
    if cycle_ms is None or place.report.errors() > before:
        return None
    query, given = asked or (None, None)
    return PulseSpec(
        operation=operation.name,
        name=name,
        cycle_ms=cycle_ms,
        intervals=intervals,
        scope=scope,
        query=query,
        input=given,
    )


def _without_calendar(place: Place) -> Place:
    """The pulse without keys of a schedule, each of which is a wish that no grid can grant."""
    left = dict(place.value)
    for key in place.value:
        if key in SCHEDULE and key not in PULSE:
            place.at(key).error(f"{key} goes with a schedule, not with a pulse", hint=_CALENDAR, id=BAD_PULSE, key=True)
            del left[key]
        elif str(key).casefold() in _CALENDAR_WORDS:
            place.at(key).error(f"no key is called '{key}' here", hint=_CALENDAR, id=UNKNOWN_KEY, key=True)
            del left[key]
    return Place(place.report, place.path, left)


def _cycle(place: Place, intervals: int) -> int | None:
    try:
        cycle_ms = seconds_to_ms(place.value)
    except InvalidDuration as error:
        # A number with a unit is a slip; anything else in words is a wish for the calendar.
        slip = not isinstance(place.value, str) or _NUMBER_AND_UNIT.fullmatch(place.value)
        hint = error.hint if slip else _CALENDAR
        place.error(f"no cycle: {error.message}", hint=hint, id=BAD_PULSE)
        return None
    try:
        Grid(cycle_ms=cycle_ms, intervals=intervals)
    except InvalidSchedule as error:
        place.error(error.message, hint=error.hint or "a bare number is seconds", id=BAD_PULSE)
        return None
    return cycle_ms


def _asked(
    place: Place, fields: Fields, operation: OperationSpec, targets: Targets, scope: PulseScope, intervals: int
) -> tuple[dict[str, Any], Any] | None:
    query = fields.get("query")
    if scope is PulseScope.REPLICA and operation.type is not OperationType.EFFECT:
        fields.entries["scope"].error(
            f"'{operation.name}' is {a_type(operation.type)}; each process can call an effect only", id=TARGET
        )
        return None
    if query is not None:
        return read_sweep(query, fields.get("input"), operation, targets.entity)
    if "input" in fields:
        fields.entries["input"].error(
            "an input goes with `query`; without it the operation is sent { n, i }", id=TARGET, key=True
        )
    check_uncalled(place, operation)
    samples = ({"n": intervals, "i": 0}, {"n": intervals, "i": intervals - 1})
    for sample in samples:
        before = place.report.errors()
        check_sent(place, operation, [sample], "{ n, i }")
        if place.report.errors() > before:
            break
    return None
