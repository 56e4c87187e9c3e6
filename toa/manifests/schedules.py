"""Schedules: calls at occurrences of the calendar."""

from __future__ import annotations

from typing import Any

from toa.core.duration import seconds_to_ms
from toa.core.recurrence import Schedule
from toa.core.specs import OperationSpec, ScheduleSpec
from toa.exceptions import InvalidDuration, InvalidSchedule, InvalidZone
from toa.manifests.fields import Fields
from toa.manifests.keys import CATCH_UP, EACH, PULSE, SCHEDULE
from toa.manifests.place import Place
from toa.manifests.problems import SCHEDULE as BAD_SCHEDULE
from toa.manifests.problems import TARGET, WRONG_VALUE
from toa.manifests.sweeps import Targets, check_sent, check_uncalled, read_sweep

_AT = 1_767_225_600_000


def read_schedule(place: Place, operation: OperationSpec, targets: Targets, name: str) -> ScheduleSpec | None:
    """The schedule at a place, or null where it does not hold."""
    before = place.report.errors()
    if isinstance(place.value, str):
        fields, expression = Fields(Place(place.report, place.path), SCHEDULE), place
    else:
        fields = Fields(_without_grid(place), SCHEDULE)
        found = fields.get("schedule")
        if found is None:
            return None
        expression = found
    zone = fields.get("zone")
    _check_recurrence(expression, zone, fields)
    sweep = _asked(place, fields, operation, targets)
    catch_up, each_max, each_window_ms = _catch_up(fields.get("catch_up"))
    overdue = fields.get("overdue")
    overdue_ms = None if overdue is None else _seconds(overdue)
    jitter = fields.get("jitter")
    jitter_ms = 0 if jitter is None else _seconds(jitter)
    if place.report.errors() > before:
        return None
    return ScheduleSpec(
        operation=operation.name,
        name=name,
        expression=str(expression.value),
        zone=fields.text("zone", "UTC"),
        overdue_ms=overdue_ms,
        catch_up=catch_up,
        each_max=each_max,
        each_window_ms=each_window_ms,
        overlap=fields.text("overlap", "skip"),
        gap=fields.text("gap", "end"),
        fold=fields.text("fold", "first"),
        jitter_ms=jitter_ms,
        query=sweep[0] if sweep else None,
        input=sweep[1] if sweep else None,
    )


def _without_grid(place: Place) -> Place:
    left = dict(place.value)
    for key in place.value:
        if key in PULSE and key not in SCHEDULE:
            place.at(key).error(
                f"{key} goes with a pulse, not with a schedule",
                hint="give each an entry of its own, in a list with names",
                id=BAD_SCHEDULE,
                key=True,
            )
            del left[key]
    return Place(place.report, place.path, left)


def _check_recurrence(expression: Place, zone: Place | None, fields: Fields) -> None:
    """Each at its own place: what is wrong with the expression, and with the zone."""
    try:
        Schedule(
            expression.value,
            "UTC",
            gap=fields.text("gap", "end"),  # type: ignore[arg-type]
            fold=fields.text("fold", "first"),  # type: ignore[arg-type]
        )
    except InvalidSchedule as error:
        expression.error(error.message, hint=error.hint, id=BAD_SCHEDULE)
    if zone is not None:
        try:
            Schedule("0 0 * * *", zone.value)
        except InvalidZone as error:
            zone.error(error.message, hint=error.hint, id=BAD_SCHEDULE)


def _asked(
    place: Place, fields: Fields, operation: OperationSpec, targets: Targets
) -> tuple[dict[str, Any], Any] | None:
    query = fields.get("query")
    if query is not None:
        return read_sweep(query, fields.get("input"), operation, targets.entity)
    if "input" in fields:
        fields.entries["input"].error(
            "an input goes with `query`; without it the operation is sent { at }", id=TARGET, key=True
        )
    check_uncalled(place, operation)
    check_sent(place, operation, [{"at": _AT}, {"at": _AT, "last": _AT, "missed": 0}], "{ at }")
    return None


def _catch_up(place: Place | None) -> tuple[str, int, int]:
    default = ScheduleSpec(operation="", expression="")
    if place is None:
        return default.catch_up, default.each_max, default.each_window_ms
    if isinstance(place.value, str):
        return place.value, default.each_max, default.each_window_ms
    before = place.report.errors()
    each = Fields(place, CATCH_UP).get("each")
    if each is None:
        if place.report.errors() == before:
            place.error("must be once, none or each", hint="{ each: { max: 100, window: 1d } }", id=WRONG_VALUE)
        return "each", default.each_max, default.each_window_ms
    fields = Fields(each, EACH)
    window = fields.get("window")
    window_ms = default.each_window_ms if window is None else _seconds(window)
    return "each", fields.integer("max", default.each_max), window_ms


def _seconds(place: Place) -> int:
    try:
        return seconds_to_ms(place.value)
    except InvalidDuration as error:
        place.error(error.message, hint=error.hint, id=WRONG_VALUE)
        return 0
