"""Whether an index serves a declared sweep: those of the manifest, and those that the model's class body adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.core import checks
from django.db.models import Index, Model, Q, UniqueConstraint

from toa.checks.ids import UNSERVED_SORT
from toa.core.criteria import And, Comparison, Node, Operator, parse_criteria, to_text
from toa.core.criteria_nodes import conjunction
from toa.core.cursor import SortKey
from toa.core.query import Query, parse_query
from toa.core.specs import ComponentSpec, EntitySpec, IndexSpec, PulseSpec, ScheduleSpec
from toa.exceptions import InvalidQuery
from toa.manifests.indexes import serves
from toa.models.conditions import check_q
from toa.runtime.bindings import model_of


def cadences(spec: ComponentSpec) -> Iterator[PulseSpec | ScheduleSpec]:
    """What a component declares on the clock, pulses first."""
    yield from spec.pulses
    yield from spec.schedules


def is_served(spec: ComponentSpec, query: Mapping[str, Any]) -> bool:
    """Whether some index narrows what a sweep asks for."""
    entity = with_model_indexes(spec)
    asked = _asked(query, entity)
    return asked is not None and (asked.id is not None or serves(entity, _criteria(asked, entity)))


def unserved_sorts(spec: ComponentSpec) -> Iterator[checks.CheckMessage]:
    """A warning for each declared sweep with a `sort` that no index gives: each call sorts all that fits."""
    if spec.entity is None:
        return
    entity = with_model_indexes(spec)
    for declared in cadences(spec):
        asked = _asked(declared.query, entity) if declared.query is not None else None
        if asked is None or asked.id is not None or not asked.sort:
            continue
        if not _gives_order(entity, _criteria(asked, entity), asked.sort):
            names = ", ".join(f"{'-' if key.descending else ''}{key.name}" for key in asked.sort)
            where = to_text(asked.criteria) if asked.criteria is not None else ""
            yield checks.Warning(
                f"no index gives the order [{names}] of the sweep {spec.endpoint(declared.operation)}:"
                " each call sorts all that fits",
                hint=f"an index on [{names}] whose `where` is a part of {where!r}",
                obj=spec.path,
                id=UNSERVED_SORT,
            )


def with_model_indexes(spec: ComponentSpec) -> EntitySpec:
    """The entity with the indexes and unique rules of its model's class body beside those of the manifest."""
    assert spec.entity is not None
    try:
        model = model_of(spec)
    except LookupError:
        return spec.entity
    names = {one.field: name for name, one in spec.entity.selectable().items()}
    index, unique = dict(spec.entity.index), dict(spec.entity.unique)
    for number, (on, condition) in enumerate(_indexes(model)):
        columns = [_named(column, names) for column in on]
        where = _where(condition, names, spec.entity)
        if columns and all(columns) and where is not None:
            index[f"model-{number}"] = IndexSpec(name="", on=tuple(columns), where=where or None)
    for number, constraint in enumerate(model._meta.constraints):
        if isinstance(constraint, UniqueConstraint) and constraint.fields:
            fields = [names.get(field, "") for field in constraint.fields]
            if all(fields) and constraint.condition is None:
                unique[f"model-{number}"] = tuple(fields)
    return replace(spec.entity, index=index, unique=unique)


def _indexes(model: type[Model]) -> Iterator[tuple[list[str], Q | None]]:
    for index in model._meta.indexes:
        if type(index) is Index and index.fields:
            yield list(index.fields), index.condition
    for field in model._meta.get_fields():
        if getattr(field, "db_index", False) or getattr(field, "unique", False):
            yield [field.name], None


def _named(column: str, names: Mapping[str, str]) -> str:
    """A column of an index by the name of its property, or empty."""
    name = names.get(column.removeprefix("-"), "")
    return f"-{name}" if name and column.startswith("-") else name


def _where(condition: Q | None, names: Mapping[str, str], entity: EntitySpec) -> str | None:
    """The condition of a partial index as criteria, empty for none, or null where it cannot be written as such."""
    if condition is None:
        return ""
    try:
        node = check_q(_by_property(condition, names), entity)
    except InvalidQuery:
        return None
    return None if node is None else to_text(node)


def _by_property(condition: Q, names: Mapping[str, str]) -> Q:
    renamed = Q(_connector=condition.connector, _negated=condition.negated)
    for child in condition.children:
        if isinstance(child, Q):
            child = _by_property(child, names)
        elif isinstance(child, tuple):
            field, separator, lookup = child[0].partition("__")
            child = (f"{names.get(field, field)}{separator}{lookup}", child[1])
        renamed.children.append(child)
    return renamed


def _asked(query: Mapping[str, Any] | None, entity: EntitySpec) -> Query | None:
    try:
        return parse_query(query, entity, allow_now=True)
    except InvalidQuery:
        return None  # reported where the manifest was read


def _criteria(asked: Query, entity: EntitySpec) -> Node:
    """What a row must fit to be called: a sweep passes over tombstones by itself."""
    living = parse_criteria("DELETED==null", entity.selectable())
    return living if asked.criteria is None else conjunction([asked.criteria, living])


def _gives_order(entity: EntitySpec, criteria: Node, sort: tuple[SortKey, ...]) -> bool:
    terms = _terms(criteria)
    fixed = {term.selector for term in terms if isinstance(term, Comparison) and _fixes(term)}
    wanted = [(key.name, key.descending) for key in sort if key.name not in fixed]
    if not wanted or any(set(columns) <= fixed for columns in (("id",), *entity.unique.values())):
        return True
    candidates = [IndexSpec(name="", on=columns) for columns in (("id",), *entity.unique.values())]
    for index in (*entity.index.values(), *candidates):
        if index.where is not None and not _holds(index.where, entity, terms):
            continue
        columns = [(on.removeprefix("-"), on.startswith("-")) for on in index.on]
        while columns and columns[0][0] in fixed:
            columns.pop(0)
        reversed_columns = [(name, not descending) for name, descending in columns]
        if wanted in (columns[: len(wanted)], reversed_columns[: len(wanted)]):
            return True
    return False


def _holds(where: str, entity: EntitySpec, terms: set[Node]) -> bool:
    return _terms(parse_criteria(where, entity.selectable())) <= terms


def _terms(node: Node) -> set[Node]:
    """What must hold all together."""
    return set(node.items) if isinstance(node, And) else {node}


def _fixes(term: Comparison) -> bool:
    return term.operator is Operator.EQ and not term.path
