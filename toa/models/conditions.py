"""Criteria given in Python as a Django `Q`: read, and refused, as the same criteria written as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from toa.core.criteria import (
    MAX_COMPARISONS,
    MAX_DEPTH,
    MAX_LIST_VALUES,
    Comparison,
    Node,
    Operator,
    Scalar,
)
from toa.core.criteria_nodes import LISTS, ORDERING, conjunction, disjunction
from toa.core.criteria_targets import Target, check_operator, target
from toa.core.criteria_values import read_value, undeclared_type_of
from toa.core.nearest import did_you_mean
from toa.core.query import Query, parse_query
from toa.core.specs import EntitySpec, PropertySpec, PropertyType
from toa.exceptions import InvalidQuery

_LOOKUPS = {
    "exact": Operator.EQ,
    "lt": Operator.LT,
    "lte": Operator.LE,
    "gt": Operator.GT,
    "gte": Operator.GE,
    "in": Operator.IN,
}
_KNOWN = (*_LOOKUPS, "isnull")
_OPPOSITE = {
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
    Operator.IN: Operator.OUT,
    Operator.LT: Operator.GE,
    Operator.LE: Operator.GT,
    Operator.GT: Operator.LE,
    Operator.GE: Operator.LT,
}


def check_q(q: Q, entity: EntitySpec) -> Node | None:
    """The criteria that a `Q` stands for, or None where it holds no condition.

    Names are those of properties (`UPDATED`, not `updated_at`), members of objects follow behind `__`.
    Lookups are exact, in, lt, lte, gt, gte and isnull; conditions may be joined by `&` and `|`, and negated.
    Values have the property's Python type. Raises `InvalidQuery` for anything else: expressions, subqueries,
    `^`.
    """
    return _Reader(entity.selectable()).read(q, negated=False, depth=0)


def read_query(query: Mapping[str, Any] | None, entity: EntitySpec, **options: Any) -> Query:
    """`toa.core.query.parse_query`, whose `criteria` may be a `Q` as well."""
    if isinstance(query, Mapping) and isinstance(query.get("criteria"), Q):
        query = {**query, "criteria": check_q(query["criteria"], entity)}
    return parse_query(query, entity, **options)


class _Reader:
    def __init__(self, properties: Mapping[str, PropertySpec]) -> None:
        self.properties = properties
        self.comparisons = 0
        self.list_values = 0

    def read(self, q: Q, *, negated: bool, depth: int) -> Node | None:
        if depth > MAX_DEPTH:
            raise InvalidQuery(f"conditions nested more than {MAX_DEPTH} deep")
        if q.connector not in (Q.AND, Q.OR):
            raise InvalidQuery(f"conditions are joined by & and |, not by {q.connector}")
        negated = negated is not q.negated
        nodes = [node for child in q.children if (node := self._child(child, negated=negated, depth=depth)) is not None]
        if not nodes:
            return None
        return conjunction(nodes) if (q.connector == Q.AND) is not negated else disjunction(nodes)

    def _child(self, child: Any, *, negated: bool, depth: int) -> Node | None:
        if isinstance(child, Q):
            return self.read(child, negated=negated, depth=depth + 1)
        if not isinstance(child, tuple):
            raise InvalidQuery(f"a condition names a property, which {type(child).__name__} does not")
        self.comparisons += 1
        if self.comparisons > MAX_COMPARISONS:
            raise InvalidQuery(f"more than {MAX_COMPARISONS} comparisons")
        name, value = child
        found, lookup = self._target(name)
        if lookup == "isnull":
            if not isinstance(value, bool):
                raise InvalidQuery(f"{name}: True or False, not {type(value).__name__}")
            return self._compared(found, Operator.EQ, (None,), negated=negated is value)
        operator = _LOOKUPS[lookup]
        values = self._list(name, value) if operator in LISTS else (value,)
        return self._compared(found, operator, values, negated=negated)

    def _target(self, name: str) -> tuple[Target, str]:
        first, *rest = name.split("__")
        spec = self.properties.get(first)
        if spec is None:
            raise InvalidQuery(f"no property {first!r}", hint=self._property_of(first))
        lookup = rest.pop() if rest and rest[-1] in _KNOWN else "exact"
        if rest and spec.type is not PropertyType.OBJECT:
            raise InvalidQuery(
                f"{name}: criteria know no lookup {rest[0]!r}",
                hint=did_you_mean(rest[0], _KNOWN),
            )
        return target(first, tuple(rest), self.properties, None), lookup

    def _property_of(self, name: str) -> str:
        for spec in self.properties.values():
            if name in (spec.field, spec.attname):
                return f"this field holds the property {spec.name!r}"
        return did_you_mean(name, self.properties)

    def _list(self, name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidQuery(f"{name}: a list of values, not {type(value).__name__}")
        self.list_values += len(value)
        if self.list_values > MAX_LIST_VALUES:
            raise InvalidQuery(f"more than {MAX_LIST_VALUES} values in lists")
        if any(item is None for item in value):
            raise InvalidQuery(f"{name}: None in a list", hint=f"{name.removesuffix('__in')}__isnull")
        return tuple(value)

    def _compared(self, found: Target, operator: Operator, values: tuple[Any, ...], *, negated: bool) -> Node:
        null = values == (None,)
        kinds = {found.type or (PropertyType.STRING if null else undeclared_type_of(v)) for v in values}
        if len(kinds) > 1:
            raise InvalidQuery(f"{found.label}: the values of a list are of one type")
        kind = kinds.pop() if kinds else found.type or PropertyType.STRING
        check_operator(found, operator, kind, null=null)
        read: tuple[Scalar, ...] = (None,) if null else tuple(read_value(found, value) for value in values)
        if not negated:
            return _comparison(found, operator, read, kind)
        opposite = _comparison(found, _OPPOSITE[operator], read, kind)
        if operator not in ORDERING:
            return opposite
        if found.path:
            raise InvalidQuery(
                f"{found.label}: a negated order would hold for members of other types too",
                hint="turn the lookup round: gte for lt",
            )
        # What is not before a value is at it, behind it, or null.
        return disjunction([opposite, _comparison(found, Operator.EQ, (None,), kind)])


def _comparison(found: Target, operator: Operator, values: tuple[Scalar, ...], kind: PropertyType) -> Comparison:
    return Comparison(selector=found.selector, path=found.path, operator=operator, values=values, type=kind)
