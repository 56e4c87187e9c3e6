"""What a list of objects and an object's page show, worked out from the manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin
from django.db.models import Model

from toa.admin import cells
from toa.core.specs import ComponentSpec, EntitySpec, PropertySpec, PropertyType

MOST = 9
"""Columns of a list, those of the record itself not counted."""
LONGEST = 255
"""Text that may be longer has no column."""

Column = str | Callable[[Any], str]
_DOCUMENTS = (PropertyType.OBJECT, PropertyType.ARRAY)
_TYPED = (PropertyType.STRING, PropertyType.INTEGER, PropertyType.UUID)
"""What a person types as it is stored."""


def listed(spec: ComponentSpec) -> tuple[Column, ...]:
    """The columns of a list: what tells one object from another first, and when it changed last."""
    entity = spec.entity
    if entity is None:
        return ("__str__",)
    names = [name for name, one in entity.properties.items() if name != "id" and _short(one)]
    own = [] if entity.id.type is PropertyType.UUID and not entity.associated and names else [entity.id]
    found = [*own, *(entity.properties[name] for name in names[:MOST])]
    if spec.deadlines:
        found += [entity.system["TIMEOUT"], entity.system["STATE"]]
    return tuple(shown(one) for one in [*found, entity.system["UPDATED"]])


def filtered(entity: EntitySpec) -> tuple[str, ...]:
    """The properties of few values."""
    few = [one.field for one in entity.properties.values() if one.enum or one.type is PropertyType.BOOLEAN]
    return (*few, *(one.field for name, one in entity.system.items() if name == "STATE"))


def searched(entity: EntitySpec) -> tuple[str, ...]:
    """The id, what is unique by itself, and what leads an index of all objects: each value is found by an index."""
    return tuple(dict.fromkeys((entity.id.field, *unique_alone(entity), *_leading(entity))))


def unique_alone(entity: EntitySpec) -> tuple[str, ...]:
    """The fields that are unique by themselves among the objects that are not deleted."""
    alone = [entity.properties[names[0]] for names in entity.unique.values() if len(names) == 1]
    return tuple(one.field for one in alone if one.name != "id")


def _leading(entity: EntitySpec) -> Iterator[str]:
    """The fields that an index begins with; one with a condition has only some of the objects."""
    for index in entity.index.values():
        spec = entity.properties.get(index.on[0].removeprefix("-"))
        if index.where is None and spec is not None and spec.type in _TYPED:
            yield spec.field


def without_deleted(entity: EntitySpec) -> dict[str, Any]:
    """The condition that an object is not deleted."""
    return {f"{entity.system['DELETED'].field}__isnull": True}


def ordered(entity: EntitySpec) -> tuple[str, ...]:
    """The newest first where toa makes the ids, which are in the order of time; else by id."""
    made = entity.id.type is PropertyType.UUID and not entity.associated
    return (f"-{entity.id.field}" if made else entity.id.field,)


def grouped(spec: ComponentSpec, model: type[Model]) -> list[tuple[str | None, dict[str, Any]]]:
    """The fields of an object's page: its properties, then what toa and the model keep beside them."""
    entity = spec.entity
    assert entity is not None
    own = [one for name, one in entity.properties.items() if name != "id"]
    record = [entity.id, *entity.system.values()]
    known = {one.field for one in (*own, *record)}
    beside = [field.name for field in model._meta.concrete_fields if field.name not in known]
    return [
        (None, {"fields": [shown(one) for one in own] + beside}),
        ("Record", {"fields": [shown(one) for one in record], "classes": ["collapse"]}),
    ]


def shown(spec: PropertySpec) -> Column:
    """A property as a column or a line: moments with their distance to now, JSON indented."""
    if spec.type is PropertyType.MOMENT:
        return _column(spec, cells.moment(spec.field, spec.name))
    if spec.type in _DOCUMENTS:
        return _column(spec, cells.document(spec.field, spec.name))
    if spec.type is PropertyType.UUID:
        return _column(spec, cells.identity(spec.field, spec.name))
    return spec.field


def texts(entity: EntitySpec, row: Any) -> Iterator[tuple[str, str]]:
    """Names and values of the properties of an object, for a short look at it."""
    for spec in entity.properties.values():
        if spec.name != "id":
            column = shown(spec)
            value = getattr(row, column) if isinstance(column, str) else column(row)
            yield spec.name, cells.EMPTY if value is None else value


def _column(spec: PropertySpec, cell: cells.Cell) -> Column:
    """A cell of toa's own lists as a function of the row alone, which Django calls by its name."""

    @admin.display(description=spec.name)
    def column(row: Any) -> str:
        return cell(None, row)

    column.__name__ = spec.field
    return column


def _short(spec: PropertySpec) -> bool:
    if spec.type in _DOCUMENTS:
        return False
    return spec.type is not PropertyType.STRING or spec.enum is not None or (spec.max_length or LONGEST + 1) <= LONGEST
