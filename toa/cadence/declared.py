"""The pulses and schedules in force: what the manifests declare, with what this environment's settings say instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.exceptions import ImproperlyConfigured

from toa.core.duration import parse_duration
from toa.core.nearest import did_you_mean
from toa.core.specs import ComponentSpec, PulseScope, PulseSpec, ScheduleSpec
from toa.exceptions import InvalidDuration
from toa.manifests import registry
from toa.manifests.cadence import override
from toa.runtime import settings

Spec = TypeVar("Spec", PulseSpec, ScheduleSpec)

_SWEEP = ("query", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Generic[Spec]):
    """One pulse or schedule as this environment has it."""

    endpoint: str
    spec: Spec
    overridden: bool
    """Whether the settings changed what the manifest says."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it apart: endpoint and name."""
        return self.endpoint, self.spec.name


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """Everything declared, in the order of the manifests."""

    pulses: tuple[Declared[PulseSpec], ...]
    schedules: tuple[Declared[ScheduleSpec], ...]
    pulsed: tuple[str, ...]
    """Endpoints with a pulse of scope `group`."""
    scheduled: tuple[str, ...]
    """Endpoints with a schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Something in `TOA["CADENCE"]` that does not hold."""

    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


_known: tuple[Mapping[str, ComponentSpec], Any, InForce] | None = None


def in_force() -> InForce:
    """The pulses and schedules of this process's code and settings.

    `TOA["CADENCE"]` maps an endpoint, or `endpoint#name` where an operation has several, to what would stand in the
    manifest: seconds, a cron expression or a mapping, which changes the keys it gives and leaves the others; a list,
    which replaces all; null for none. Raises ImproperlyConfigured where that does not hold.
    """
    global _known
    specs, given = registry.all(), settings.get("CADENCE")
    if _known is None or _known[0] is not specs or _known[1] != given:
        unfit: list[Unfit] = []
        found = _read(specs, given, unfit)
        if unfit:
            raise ImproperlyConfigured("\n".join(map(str, unfit)))
        _known = (specs, dict(given), found)
    return _known[2]


def unfit() -> list[Unfit]:
    """Everything in `TOA["CADENCE"]` that does not hold."""
    found: list[Unfit] = []
    _read(registry.all(), settings.get("CADENCE"), found)
    return found


def _read(specs: Mapping[str, ComponentSpec], given: Mapping[str, Any], unfit: list[Unfit]) -> InForce:
    pulses: list[Declared[PulseSpec]] = []
    schedules: list[Declared[ScheduleSpec]] = []
    asked: dict[str, dict[str, Any]] = {}
    for key, value in given.items():
        endpoint, _, name = str(key).partition("#")
        asked.setdefault(endpoint, {})[name] = value
    for component in specs.values():
        for operation in component.operations:
            endpoint = component.endpoint(operation)
            for spec, overridden in _of_operation(component, operation, asked.pop(endpoint, {}), unfit):
                if isinstance(spec, PulseSpec):
                    pulses.append(Declared(endpoint=endpoint, spec=spec, overridden=overridden))
                else:
                    schedules.append(Declared(endpoint=endpoint, spec=spec, overridden=overridden))
    known = [*(_key(*one.key) for one in pulses), *(_key(*one.key) for one in schedules)]
    unfit += [_unknown(_key(endpoint, name), known) for endpoint, names in asked.items() for name in names]
    grouped = dict.fromkeys(one.endpoint for one in pulses if one.spec.scope is PulseScope.GROUP)
    return InForce(
        pulses=tuple(pulses),
        schedules=tuple(schedules),
        pulsed=tuple(grouped),
        scheduled=tuple(dict.fromkeys(one.endpoint for one in schedules)),
    )


def _of_operation(
    component: ComponentSpec, operation: str, asked: Mapping[str, Any], unfit: list[Unfit]
) -> Iterator[tuple[PulseSpec | ScheduleSpec, bool]]:
    endpoint = component.endpoint(operation)
    cadence: list[PulseSpec | ScheduleSpec] = [*component.pulses, *component.schedules]
    declared = [spec for spec in cadence if spec.operation == operation]
    if "" in asked and (isinstance(asked[""], list) or asked[""] is None or not declared):
        for spec in _overriding(component, operation, asked[""], endpoint, unfit):
            yield spec, True
        return
    keys = [_key(endpoint, spec.name) for spec in declared]
    unfit += [_unknown(_key(endpoint, name), keys) for name in asked if _key(endpoint, name) not in keys]
    for spec in declared:
        if spec.name not in asked:
            yield spec, False
        elif asked[spec.name] is not None:
            value = _merged(spec, asked[spec.name])
            for changed in _overriding(component, operation, value, _key(endpoint, spec.name), unfit):
                yield changed, True


def _overriding(
    component: ComponentSpec, operation: str, value: Any, key: str, unfit: list[Unfit]
) -> tuple[PulseSpec | ScheduleSpec, ...]:
    place = f"TOA['CADENCE'][{key!r}]"
    cadence, problems = override(component, operation, value, place)
    for problem in problems:
        if problem.level == "error":
            below = problem.where.removeprefix(operation).removeprefix(".")
            where = f"{place}: {below}: " if below else f"{place}: "
            unfit.append(Unfit(message=where + problem.message, hint=problem.hint))
    return (*cadence.pulses, *cadence.schedules)


def _key(endpoint: str, name: str) -> str:
    return f"{endpoint}#{name}" if name else endpoint


def _unknown(key: str, known: Sequence[str]) -> Unfit:
    return Unfit(message=f"no pulse or schedule is called {key!r}", hint=did_you_mean(key, known))


def _merged(spec: PulseSpec | ScheduleSpec, value: Any) -> Any:
    """What the settings say, over what the manifest says, as it would stand in the manifest."""
    given = value if isinstance(value, dict) else _expanded(value)
    if given is None:
        return value  # nothing that a cadence can be: the reader says so
    entry = _entry(spec)
    if ("schedule" if isinstance(spec, PulseSpec) else "cycle") in given:
        entry = {name: entry[name] for name in ("name", *_SWEEP) if name in entry}
    return {**entry, **given}


def _expanded(value: Any) -> dict[str, Any] | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"cycle": value}
    if not isinstance(value, str):
        return None
    try:
        parse_duration(value)
    except InvalidDuration:
        return {"schedule": value}
    return {"cycle": value}


def _entry(spec: PulseSpec | ScheduleSpec) -> dict[str, Any]:
    entry: dict[str, Any]
    if isinstance(spec, PulseSpec):
        entry = {"cycle": f"{spec.cycle_ms}ms", "intervals": spec.intervals, "scope": spec.scope.value}
    else:
        each = {"each": {"max": spec.each_max, "window": f"{spec.each_window_ms}ms"}}
        entry = {
            "schedule": spec.expression,
            "zone": spec.zone,
            "overdue": None if spec.overdue_ms is None else f"{spec.overdue_ms}ms",
            "catch_up": each if spec.catch_up == "each" else spec.catch_up,
            "overlap": spec.overlap,
            "gap": spec.gap,
            "fold": spec.fold,
            "jitter": f"{spec.jitter_ms}ms",
        }
    if spec.query is not None:
        entry |= {"query": dict(spec.query), "input": spec.input}
    if spec.name:
        entry["name"] = spec.name
    return {name: value for name, value in entry.items() if value is not None}
