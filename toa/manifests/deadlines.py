"""The `deadlines` of a manifest: properties that are the moment their transition is due."""

from __future__ import annotations

from collections.abc import Mapping

from toa.core.duration import SECOND_MS, parse_duration
from toa.core.specs import DeadlineSpec, EntitySpec, OperationSpec, OperationType, QueryRule, Scope
from toa.exceptions import InvalidDuration
from toa.manifests.fields import Fields, fits
from toa.manifests.keys import DEADLINE as KEYS
from toa.manifests.keys import DEADLINE_FORM
from toa.manifests.names import a_type, unknown
from toa.manifests.place import Place
from toa.manifests.problems import DEADLINE, TARGET, UNKNOWN_OPERATION, WRONG_VALUE
from toa.manifests.receivers import known_operation
from toa.manifests.schemas import compile_schema

TIMEOUT = "timeout"
"""The reserved deadline of the whole process."""


def read_deadlines(
    place: Place, entity: EntitySpec | None, operations: Mapping[str, OperationSpec], declared: frozenset[str]
) -> dict[str, DeadlineSpec]:
    """The deadlines by property; a deadline property that is not listed calls `at_<property>`."""
    found: dict[str, DeadlineSpec] = {}
    if entity is None:
        for entry in place.entries():
            entry.error("a deadline is a property, and the component has no entity", id=DEADLINE, key=True)
        return found
    entries = {entry.name: entry for entry in place.entries()}
    for name, spec in entity.properties.items():
        if spec.deadline and name not in entries:
            entries[name] = Place(place.report, ("entity", "properties", name))
    for name, entry in entries.items():
        if name != TIMEOUT and not _is_deadline(entry, entity):
            continue
        deadline = _read(entry, operations, declared)
        if deadline is not None:
            found[name] = deadline
    return found


def _is_deadline(entry: Place, entity: EntitySpec) -> bool:
    spec = entity.properties.get(entry.name)
    if spec is None:
        moments = [name for name, one in entity.properties.items() if one.deadline]
        message, hint = unknown("property", entry.name, moments or list(entity.properties))
        entry.error(message, hint=hint or f"entity.properties.{entry.name}: deadline", id=DEADLINE, key=True)
        return False
    if not spec.deadline:
        entry.error(
            f"'{entry.name}' is of type {spec.type.value}, not a moment",
            hint=f"entity.properties.{entry.name}: deadline",
            id=DEADLINE,
            key=True,
        )
        return False
    return True


def _read(entry: Place, operations: Mapping[str, OperationSpec], declared: frozenset[str]) -> DeadlineSpec | None:
    before = entry.report.errors()
    if not fits(entry, DEADLINE_FORM):
        return None
    short = not isinstance(entry.value, dict)
    fields = Fields(Place(entry.report, entry.path, {}) if short else entry, KEYS)
    target = entry if short and entry.value is not None else fields.get("transition")
    operation = (
        _default_handler(entry, operations, declared)
        if target is None
        else known_operation(target, operations, declared)
    )
    if operation is not None:
        _check_handler(target or entry, operation, key=target is None)
    lifetime_ms = _lifetime(entry, fields)
    if operation is None or entry.report.errors() > before:
        return None
    return DeadlineSpec(property=entry.name, transition=operation.name, lifetime_ms=lifetime_ms)


def _default_handler(
    entry: Place, operations: Mapping[str, OperationSpec], declared: frozenset[str]
) -> OperationSpec | None:
    name = f"at_{entry.name}"
    if name not in operations and name not in declared:
        transitions = [one for one, spec in operations.items() if spec.type is OperationType.TRANSITION]
        _, hint = unknown("operation", name, [one for one in transitions if not operations[one].inherited])
        entry.error(
            f"no operation is called '{name}', which a deadline calls unless it names another",
            hint=hint or f"write operations/{name}.py, or deadlines.{entry.name}: <transition>",
            id=UNKNOWN_OPERATION,
            key=True,
        )
    return operations.get(name)


def _check_handler(place: Place, operation: OperationSpec, *, key: bool) -> None:
    if operation.type is not OperationType.TRANSITION:
        place.error(f"'{operation.name}' is {a_type(operation.type)}, not a transition", id=TARGET, key=key)
    elif operation.scope is not Scope.ENTRY or operation.query is QueryRule.ABSENT:
        place.error(
            f"'{operation.name}' must be a transition of one entry that takes a query",
            hint="transition(input, entry, context), query: true",
            id=TARGET,
            key=key,
        )
    elif not compile_schema(operation.input).is_valid(None):
        place.error(
            f"'{operation.name}' is sent null and does not take it",
            hint="leave its input out; what it needs stands in the entry",
            id=TARGET,
            key=key,
        )


def _lifetime(entry: Place, fields: Fields) -> int | None:
    place = fields.get("lifetime")
    if place is None:
        if entry.name == TIMEOUT:
            entry.error(
                "timeout needs a lifetime", hint="timeout: { transition: close, lifetime: 7d }", id=DEADLINE, key=True
            )
        return None
    if entry.name != TIMEOUT:
        place.error("only timeout has a lifetime", hint="set the property to the moment", id=DEADLINE, key=True)
        return None
    try:
        lifetime = parse_duration(place.value)
    except InvalidDuration as error:
        place.error(error.message, hint=error.hint, id=WRONG_VALUE)
        return None
    if lifetime < SECOND_MS:
        place.error("a lifetime is at least 1s", hint="a bare number is milliseconds", id=WRONG_VALUE)
    return lifetime
