"""Criteria and queries as Django lookups.

Every value reaches PostgreSQL as a bound parameter, and every column by the name that a spec gives; a
caller's text decides neither. The answers are those of `toa.core.criteria.matches`.
"""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, TypeVar
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

from toa.core.clock import GREATEST, to_datetime, to_moment
from toa.core.criteria import And, Comparison, Node, Operator, Or
from toa.core.criteria_nodes import LISTS, NEGATIVE, ORDERING, Now
from toa.core.query import Query
from toa.core.specs import EntitySpec, PropertySpec, PropertyType
from toa.exceptions import InvalidQuery
from toa.models.conditions import check_q, read_query
from toa.models.json_members import MemberComparison, MemberIsNull
from toa.models.keyset import TEXTS, column_of, comparable, ordering, rows_after

__all__ = ["apply", "check_q", "narrow", "read_query", "to_q"]

M = TypeVar("M", bound=Model)

_SUFFIX = {
    Operator.EQ: "exact",
    Operator.NE: "exact",
    Operator.LT: "lt",
    Operator.LE: "lte",
    Operator.GT: "gt",
    Operator.GE: "gte",
    Operator.IN: "in",
    Operator.OUT: "in",
}
_ORDERED = {
    Operator.LT: LessThan,
    Operator.LE: LessThanOrEqual,
    Operator.GT: GreaterThan,
    Operator.GE: GreaterThanOrEqual,
}
_JSON = frozenset({PropertyType.OBJECT, PropertyType.ARRAY})


def to_q(node: Node, entity: EntitySpec, now: datetime | None = None) -> Q:
    """Criteria as a `Q` over the model's fields.

    `now` (aware) is what `$now` stands for; only criteria that hold it need it, and raise ValueError without.
    Comparisons of columns are plain lookups, which ordinary indexes serve. Only the order of texts is by code
    point (collation "C"), whatever the database's collation.
    """
    match node:
        case And(items):
            return Q(*(to_q(item, entity, now) for item in items))
        case Or(items):
            return Q(*(to_q(item, entity, now) for item in items), _connector=Q.OR)
        case Comparison():
            return _comparison(node, entity.selectable()[node.selector], now)


def apply(query: Query, queryset: QuerySet[M], entity: EntitySpec, now: datetime | None = None) -> QuerySet[M]:
    """The rows that a query asks for, in its order, cut to its limit.

    Tombstones are left out unless `deleted` asks for them; `version` and `projection` are for the caller.
    `now` (aware) is what `$now` in criteria stands for.
    """
    rows = narrow(query, queryset, entity, now).order_by(*ordering(query.order, entity))
    if query.after is not None:
        rows = rows.filter(rows_after(query.after, query.order, entity, _present(query.criteria)))
    end = None if query.limit is None else query.offset + query.limit
    return rows[query.offset : end] if query.offset or end is not None else rows


def narrow(query: Query, queryset: QuerySet[M], entity: EntitySpec, now: datetime | None = None) -> QuerySet[M]:
    """The rows that a query is about: by id, ids and criteria, tombstones only where `deleted` asks."""
    column = column_of(entity.id)
    conditions = Q()
    if query.id is not None:
        conditions &= Q(**{column: query.id})
    if query.ids is not None:
        conditions &= Q(**{f"{column}__in": query.ids})
    if not query.deleted and "DELETED" in entity.system:
        conditions &= Q(**{f"{column_of(entity.system['DELETED'])}__isnull": True})
    if query.criteria is not None:
        conditions &= to_q(query.criteria, entity, now)
    return queryset.filter(conditions)


def _present(criteria: Node | None) -> set[str]:
    """The properties that are null in no row that the criteria find."""
    items = criteria.items if isinstance(criteria, And) else (criteria,)
    return {item.selector for item in items if isinstance(item, Comparison) and not item.path and _excludes_null(item)}


def _excludes_null(item: Comparison) -> bool:
    return (item.operator is Operator.NE) if item.is_null_test else item.operator not in NEGATIVE


def _comparison(node: Comparison, spec: PropertySpec, now: datetime | None) -> Q:
    column = column_of(spec)
    if node.is_null_test:
        negated = node.operator is Operator.NE
        if spec.type in _JSON:
            return Q(MemberIsNull(column, node.path, negated=negated))
        return Q(**{f"{column}__isnull": not negated})
    if not node.values:
        nowhere = Q(**{f"{column}__in": []})
        return ~nowhere if node.operator in NEGATIVE else nowhere
    values = [_value(value, node.type, spec, now) for value in node.values]
    if node.path:
        return Q(MemberComparison(column, node.path, node.operator.value, node.type.value, tuple(values)))
    if node.type is PropertyType.MOMENT:
        return _moments(column, node.operator, values)
    if node.operator in ORDERING and node.type in TEXTS:
        return Q(_ORDERED[node.operator](comparable(spec), values[0]))
    found = Q(**{f"{column}__{_SUFFIX[node.operator]}": values if node.operator in LISTS else values[0]})
    return ~found if node.operator in NEGATIVE else found


def _value(value: Any, kind: PropertyType, spec: PropertySpec, now: datetime | None) -> Any:
    if isinstance(value, Now):
        if now is None:
            raise ValueError("criteria with $now need the moment that it stands for")
        ms = to_moment(now)
        return ms if kind is PropertyType.MOMENT else to_datetime(ms)
    return _key(value, spec) if kind is PropertyType.REF else value


def _key(text: str, spec: PropertySpec) -> Any:
    """The key of the ref's model that a text spells; while models are still being loaded, the text."""
    if not apps.models_ready or spec.ref is None:
        return text
    key = apps.get_model(spec.ref)._meta.pk
    assert key is not None
    try:
        value = key.to_python(text)
    except ValidationError:
        value = None
    if value is None or (not isinstance(value, UUID) and str(value) != text):
        raise InvalidQuery(f"{text!r} does not fit {spec.name!r}: it is no key of {spec.ref}")
    return value


def _moments(column: str, operator: Operator, values: list[int]) -> Q:
    """Comparisons by whole milliseconds, also of what SQL has written with microseconds, as plain ranges."""
    match operator:
        case Operator.LT:
            return Q(**{f"{column}__lt": to_datetime(values[0])})
        case Operator.GE:
            return Q(**{f"{column}__gte": to_datetime(values[0])})
        case Operator.LE:
            return _until(column, values[0])
        case Operator.GT:
            if values[0] == GREATEST:
                return Q(**{f"{column}__in": []})
            return Q(**{f"{column}__gte": to_datetime(values[0] + 1)})
    ranges = [Q(**{f"{column}__gte": to_datetime(value)}) & _until(column, value) for value in values]
    found = reduce(or_, ranges)
    return ~found if operator in NEGATIVE else found


def _until(column: str, value: int) -> Q:
    if value == GREATEST:
        return Q(**{f"{column}__lte": to_datetime(value)})
    return Q(**{f"{column}__lt": to_datetime(value + 1)})
