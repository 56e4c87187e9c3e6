"""The `cadence` of a manifest: which pulses and schedules call which operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toa.core.duration import parse_duration
from toa.core.specs import ComponentSpec, OperationSpec, PulseSpec, ScheduleSpec
from toa.exceptions import InvalidDuration
from toa.manifests.document import Document
from toa.manifests.names import name_problem
from toa.manifests.place import Place, Report, described
from toa.manifests.problems import PULSE, WRONG_KIND, WRONG_NAME, Problem
from toa.manifests.pulses import read_pulse
from toa.manifests.schedules import read_schedule
from toa.manifests.sweeps import Targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """Pulses and schedules of one or more operations."""

    pulses: tuple[PulseSpec, ...] = ()
    schedules: tuple[ScheduleSpec, ...] = ()


def read_cadence(place: Place, targets: Targets) -> Cadence:
    """The pulses and schedules of a manifest; those that do not hold are left out and reported."""
    pulses: list[PulseSpec] = []
    schedules: list[ScheduleSpec] = []
    for entry in place.entries():
        operation = targets.target(entry)
        if operation is None:
            continue
        for item, name in _items(entry):
            _read(item, operation, targets, name, pulses, schedules)
    return Cadence(pulses=tuple(pulses), schedules=tuple(schedules))


def override(spec: ComponentSpec, operation: str, value: Any, origin: str) -> tuple[Cadence, tuple[Problem, ...]]:
    """What an environment says in place of the manifest, by the same rules.

    `value` is what would stand under `cadence.<operation>`; `origin` is how problems show where it comes from, such
    as a name of the settings. A value of null is no pulse and no schedule.
    """
    report = Report(Document(path=origin, data={operation: value}))
    if value is None:
        return Cadence(), ()
    targets = Targets(operations=spec.operations, declared=frozenset(spec.operations), entity=spec.entity)
    cadence = read_cadence(Place(report, (), report.document.data), targets)
    return cadence, tuple(report.problems)


def _items(entry: Place) -> list[tuple[Place, str]]:
    """The single pulse or schedule, or those of a list, each with its name."""
    if not isinstance(entry.value, list):
        only = _name_of(entry) or ""
        # One that is empty or no text is reported with the other keys.
        if not only.strip() or _is_sound(entry, name_problem(only)):
            return [(entry, only)]
        return []
    found: list[tuple[Place, str]] = []
    seen: set[str] = set()
    if not entry.value:
        entry.error("the list is empty", id=PULSE)
    for item in entry.entries():
        name = _name_of(item)
        if name is None:
            item.error("each entry of a list needs a name", hint="{ name: nightly, cycle: 86400 }", id=WRONG_NAME)
            continue
        if _is_sound(item, name_problem(name) or (f"the name '{name}' stands twice" if name in seen else None)):
            seen.add(name)
            found.append((item, name))
    return found


def _is_sound(item: Place, problem: str | None) -> bool:
    if problem:
        item.at("name").error(problem, id=WRONG_NAME)
    return problem is None


def _name_of(item: Place) -> str | None:
    name = item.value.get("name") if isinstance(item.value, dict) else None
    return name if isinstance(name, str) else None


def _read(
    item: Place,
    operation: OperationSpec,
    targets: Targets,
    name: str,
    pulses: list[PulseSpec],
    schedules: list[ScheduleSpec],
) -> None:
    kind = _kind(item)
    if kind == "pulse":
        pulse = read_pulse(item, operation, targets, name)
        if pulse is not None:
            pulses.append(pulse)
    elif kind == "schedule":
        schedule = read_schedule(item, operation, targets, name)
        if schedule is not None:
            schedules.append(schedule)


def _kind(item: Place) -> str | None:
    """Whether it is a pulse or a schedule; reports what is neither."""
    value = item.value
    if isinstance(value, dict):
        return "schedule" if "schedule" in value else "pulse"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "pulse"
    if isinstance(value, str):
        return "pulse" if _is_duration(value) else "schedule"
    item.error(
        f"must be seconds, a cron expression, or a mapping, not {described(value)}",
        hint='300, "0 9 * * mon", { cycle: … } or { schedule: … }',
        id=WRONG_KIND,
    )
    return None


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except InvalidDuration:
        return False
    return True
