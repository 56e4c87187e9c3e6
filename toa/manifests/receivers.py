"""The `receivers` of a manifest: which events of which components call an operation of this one."""

from __future__ import annotations

from collections.abc import Mapping

from toa.core.duration import parse_duration
from toa.core.nearest import did_you_mean
from toa.core.specs import OperationSpec, OperationType, ReceiverSpec
from toa.exceptions import InvalidDuration
from toa.manifests.fields import Fields, fits
from toa.manifests.keys import RECEIVER as KEYS
from toa.manifests.keys import RECEIVER_FORM
from toa.manifests.names import a_type, name_problem, unknown
from toa.manifests.place import Place
from toa.manifests.problems import RECEIVER, UNKNOWN_OPERATION, WRONG_VALUE
from toa.manifests.sources import Sources

TARGETS = (
    OperationType.TRANSITION,
    OperationType.ASSIGNMENT,
    OperationType.EFFECT,
    OperationType.WORKFLOW,
)
"""Types that toa calls by itself."""


def read_receivers(
    place: Place, operations: Mapping[str, OperationSpec], declared: frozenset[str], sources: Sources, package: str
) -> tuple[ReceiverSpec, ...]:
    """The receivers in the manifest's order. `declared` are all names of operations, broken ones included."""
    found = []
    for position, entry in enumerate(place.entries()):
        before = entry.report.errors()
        if not fits(entry, RECEIVER_FORM):
            continue
        parts = entry.name.split(".")
        if not 2 <= len(parts) <= 3 or any(name_problem(part) for part in parts):
            entry.error(f"'{entry.name}' is no event", hint="write namespace.component.event", id=RECEIVER, key=True)
        short = isinstance(entry.value, str)
        fields = Fields(Place(entry.report, entry.path, {}) if short else entry, KEYS)
        target = entry if short else fields.get("operation")
        if target is None:
            if entry.report.errors() == before:
                entry.error("a receiver names its operation", hint="operation: <name>", id=RECEIVER)
            continue
        operation = known_operation(target, operations, declared)
        if operation is not None and operation.type not in TARGETS:
            target.error(
                f"'{operation.name}' is {a_type(operation.type)}, which no event can call",
                hint="a transition, an assignment, an effect or a workflow",
                id=RECEIVER,
            )
        for key in ("condition", "request"):
            _check_function(fields.get(key), sources)
        delay = _delay(fields.get("delay"))
        if operation is not None and entry.report.errors() == before:
            found.append(
                ReceiverSpec(
                    event=entry.name,
                    operation=operation.name,
                    position=position,
                    module=f"{package}.receivers" if sources.receivers is not None else None,
                    condition=fields.text("condition") or None,
                    request=fields.text("request") or None,
                    delay_ms=delay,
                )
            )
    return tuple(found)


def known_operation(
    place: Place, operations: Mapping[str, OperationSpec], declared: frozenset[str], *, key: bool = False
) -> OperationSpec | None:
    """The operation that a value (or, with `key`, its key) names; reports an unknown one with the nearest name.

    One that is declared and broken has been reported where it is, so it is passed over in silence.
    """
    name = place.name if key else str(place.value)
    if name not in operations and name not in declared:
        message, hint = unknown("operation", name, {*operations, *declared})
        place.error(message, hint=hint, id=UNKNOWN_OPERATION, key=key)
    return operations.get(name)


def _check_function(place: Place | None, sources: Sources) -> None:
    if place is None:
        return
    if sources.receivers is None:
        place.error(
            "the component has no receivers.py", hint=f"write def {place.value}(state, origin) there", id=RECEIVER
        )
    elif place.value not in sources.receivers:
        place.error(
            f"no function of receivers.py is called '{place.value}'",
            hint=did_you_mean(place.value, sorted(sources.receivers)),
            id=RECEIVER,
        )


def _delay(place: Place | None) -> int:
    if place is None:
        return 0
    try:
        return parse_duration(place.value)
    except InvalidDuration as error:
        place.error(error.message, hint=error.hint, id=WRONG_VALUE)
        return 0
