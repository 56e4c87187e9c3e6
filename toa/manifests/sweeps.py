"""What a pulse or a schedule calls: whether the operation takes what it will be sent, and what a sweep declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toa.core.query import parse_query
from toa.core.specs import EntitySpec, OperationSpec, OperationType, QueryRule, Scope
from toa.exceptions import InvalidInput, InvalidQuery
from toa.manifests.fields import Fields
from toa.manifests.indexes import serves, suggestion
from toa.manifests.keys import SWEEP
from toa.manifests.names import a_type
from toa.manifests.place import Place
from toa.manifests.problems import CRITERIA, TARGET, UNSERVED_CRITERIA
from toa.manifests.receivers import TARGETS, known_operation
from toa.manifests.schemas import compile_schema

_SWEPT = (OperationType.TRANSITION, OperationType.ASSIGNMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The operations that a cadence may name, and the entity that a sweep asks."""

    operations: Mapping[str, OperationSpec]
    declared: frozenset[str]
    entity: EntitySpec | None

    def target(self, place: Place) -> OperationSpec | None:
        """The operation that the key of a place names, if toa may call it by itself; else reports it."""
        operation = known_operation(place, self.operations, self.declared, key=True)
        if operation is not None and operation.type not in TARGETS:
            place.error(
                f"'{operation.name}' is {a_type(operation.type)}, which nothing calls by itself",
                hint="a transition, an assignment, an effect or a workflow",
                id=TARGET,
                key=True,
            )
            return None
        return operation


def check_sent(place: Place, operation: OperationSpec, samples: Sequence[Mapping[str, Any]], form: str) -> None:
    """Refuse a target that takes none of the samples, which have the form of what it will be sent."""
    reasons = []
    for sample in samples:
        try:
            compile_schema(operation.input).check(dict(sample))
        except InvalidInput as error:
            reasons.append(error.message.removeprefix("the input does not fit: "))
        else:
            return
    takes = "takes no input" if operation.input is None else f"does not take it: {reasons[0]}"
    properties = ", ".join(f"{name}: integer" for name in samples[0])
    place.error(
        f"'{operation.name}' is sent {form} and {takes}",
        hint=f"input: {{ type: object, properties: {{ {properties} }} }}",
        id=TARGET,
        key=True,
    )


def check_uncalled(place: Place, operation: OperationSpec) -> None:
    """Refuse what cannot be called without a query: a transition would create, an assignment has no row."""
    if operation.type in _SWEPT:
        what = "would create a row each time" if operation.type is OperationType.TRANSITION else "has no row to change"
        place.error(
            f"'{operation.name}' is {a_type(operation.type)}: without `query` it {what}",
            hint='query: { criteria: "…", limit: 100 }',
            id=TARGET,
            key=True,
        )


def read_sweep(
    query: Place, given: Place | None, operation: OperationSpec, entity: EntitySpec | None
) -> tuple[dict[str, Any], Any] | None:
    """Query and input of a declared sweep, or null where they do not hold."""
    before = query.report.errors()
    if entity is None or operation.type not in _SWEPT or operation.query is QueryRule.ABSENT:
        query.error(
            f"'{operation.name}' is {a_type(operation.type)} that takes no query",
            hint="a sweep calls a transition or an assignment on the rows it finds",
            id=TARGET,
            key=True,
        )
        return None
    if operation.scope is Scope.ENTRIES:
        query.error(f"'{operation.name}' works on a set, and a sweep calls it row by row", id=TARGET, key=True)
        return None
    fields = Fields(query, SWEEP)
    asked = {name: place.value for name, place in fields.entries.items()}
    if query.report.errors() == before:
        _check_query(query, asked, entity, operation.name)
    return (asked, _input(query, given, operation)) if query.report.errors() == before else None


def _check_query(query: Place, asked: Mapping[str, Any], entity: EntitySpec, operation: str) -> None:
    if not asked.keys() & {"id", "criteria"}:
        query.error("a sweep says which objects it calls", hint='criteria: "status==pending"', id=TARGET)
        return
    try:
        parsed = parse_query(asked, entity, allow_now=True, limit_required=True)
    except InvalidQuery as error:
        at = query if error.position is None else query.at("criteria")
        position = "" if error.position is None else f"at character {error.position + 1}: "
        at.error(f"{position}{error.message}", hint=error.hint, id=CRITERIA)
        return
    if parsed.criteria is not None and parsed.id is None and not serves(entity, parsed.criteria):
        query.at("criteria").warning(
            "no index serves these criteria: each call reads the whole table",
            hint=suggestion(operation, parsed.criteria),
            id=UNSERVED_CRITERIA,
        )


def _input(query: Place, given: Place | None, operation: OperationSpec) -> Any:
    value = None if given is None else given.value
    try:
        compile_schema(operation.input).check(value)
    except InvalidInput as error:
        at = query if given is None else given
        at.error(
            f"'{operation.name}' does not take this input: {error.message.removeprefix('the input does not fit: ')}",
            hint="" if given else "give the sweep an `input`",
            id=TARGET,
        )
    return value
