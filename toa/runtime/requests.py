"""A request, checked against the operation it is for: at the call itself, and already when a call is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toa.core.query import Query
from toa.core.record import as_record
from toa.core.specs import OperationType, QueryRule, Scope
from toa.exceptions import InvalidInput, InvalidQuery, NotAllowedHere
from toa.models.lookups import read_query
from toa.runtime.bindings import Operation

_KEYS = frozenset({"input", "query"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An input that fits its schema, with defaults applied, and a query that fits its entity."""

    input: Any
    query: Query | None


def prepare(operation: Operation, input: Any = None, query: Mapping[str, Any] | None = None) -> Request:
    """Check input and query. Raises InvalidInput or InvalidQuery; writes nothing."""
    checked = operation.input.check(input)
    return Request(
        input=as_record(checked) if isinstance(checked, dict | list) else checked, query=_query(operation, query)
    )


def split(request: Mapping[str, Any] | None) -> tuple[Any, Mapping[str, Any] | None]:
    """Input and query of a request as it is stored and sent; unknown keys are refused."""
    request = request or {}
    if not isinstance(request, Mapping):
        raise InvalidInput("a request is a mapping", hint='{"query": {"id": …}, "input": {…}}')
    unknown = sorted(set(request) - _KEYS)
    if unknown:
        raise InvalidInput(f"a request has no key {unknown[0]!r}", hint="known are input and query")
    return request.get("input"), request.get("query")


def check_storable(operation: Operation, request: Mapping[str, Any] | None) -> tuple[Any, Mapping[str, Any] | None]:
    """Check a request that is to be made later, so that a wrong one is refused where it is stored; returns its input
    and query as they were given."""
    if operation.spec.type in (OperationType.OBSERVATION, OperationType.COMPUTATION):
        raise NotAllowedHere(
            f"{operation.endpoint} is of type {operation.spec.type.value}; stored calls are of transitions,"
            " assignments, effects and workflows"
        )
    given, query = split(request)
    operation.input.check(given)
    _query(operation, query)
    return given, query


def _query(operation: Operation, query: Mapping[str, Any] | None) -> Query | None:
    rule, entity = operation.spec.query, operation.component.spec.entity
    if query is None and operation.spec.scope is Scope.ENTRIES:
        query = {}  # everything, and therefore with a limit
    if query is None:
        if rule is QueryRule.REQUIRED:
            raise InvalidQuery(f"{operation.endpoint} needs a query", hint='for one object {"id": …}')
        return None
    if rule is QueryRule.ABSENT or entity is None:
        raise InvalidQuery(f"{operation.endpoint} takes no query")
    parsed = read_query(query, entity, limit_required=operation.spec.scope is Scope.ENTRIES)
    if operation.spec.scope is not Scope.ENTRIES and parsed.id is None:
        raise InvalidQuery(f"{operation.endpoint} works on one object: the query needs `id`")
    return parsed
