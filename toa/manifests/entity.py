"""The `entity` of a manifest: its properties, what is unique, what is indexed, and what a blank record holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toa.core.criteria import parse_criteria
from toa.core.nearest import did_you_mean
from toa.core.specs import EntitySpec, IndexSpec, PropertySpec, PropertyType
from toa.exceptions import InvalidInput, InvalidQuery
from toa.manifests.fields import Fields
from toa.manifests.keys import ENTITY, INDEX
from toa.manifests.names import check_name, is_model, unknown
from toa.manifests.place import Place
from toa.manifests.problems import CRITERIA, PROPERTY, WRONG_NAME, WRONG_VALUE
from toa.manifests.problems import INDEX as BAD_INDEX
from toa.manifests.properties import check_id, read_property, row_schema, uuid_id
from toa.manifests.schemas import compile_schema
from toa.manifests.system import system_properties

_UNINDEXED = frozenset({PropertyType.OBJECT, PropertyType.ARRAY})


def read_entity(place: Place, deadlines: Mapping[str, Any]) -> EntitySpec:
    """The entity, with what does not hold left out and reported. `deadlines` are the names in that section."""
    fields = Fields(place, ENTITY)
    required = fields.names("required")
    properties = _properties(fields.get("properties"), required, deadlines)
    if "required" in fields:
        _check_required(fields, properties)
    own_id = properties.pop("id", None)
    timed = bool(deadlines) or any(spec.deadline for spec in properties.values())
    entity = EntitySpec(
        properties=properties if own_id is None else {"id": own_id, **properties},
        id=own_id or uuid_id(),
        system=system_properties(timed),
        required=tuple(name for name in required if name in properties),
        associated=fields.flag("associated"),
        history=fields.flag("history", timed),
        model=_model(fields),
        schema=row_schema(properties),
    )
    entity = _with_columns(fields, entity)
    return replace(
        entity,
        blank=_blank(fields.get("blank"), entity),
        unique=_unique(fields.get("unique"), entity),
        index=_indexes(fields.get("index"), entity),
    )


def _properties(
    place: Place | None, required: tuple[str, ...], deadlines: Mapping[str, Any]
) -> dict[str, PropertySpec]:
    found: dict[str, PropertySpec] = {}
    for entry in place.entries() if place else ():
        spec = read_property(entry, entry.name in required)
        if spec is None or (entry.name == "id" and not check_id(entry, spec)):
            continue
        if entry.name in deadlines and spec.type is PropertyType.MOMENT:
            spec = replace(spec, deadline=True)
        if spec.deadline and entry.name in required:
            entry.error("a deadline is null while nothing is due", hint="leave it out of `required`", id=PROPERTY)
            spec = replace(spec, nullable=True)
        if spec.deadline and entry.name == "timeout":
            entry.error(
                "'timeout' is the deadline of the whole process, which is kept as TIMEOUT",
                hint="declare deadlines.timeout alone",
                id=WRONG_NAME,
                key=True,
            )
            continue
        found[entry.name] = spec
    _check_columns(place, found)
    return found


def _check_columns(place: Place | None, properties: dict[str, PropertySpec]) -> None:
    """The key of a ref is stored under another name, which no property may have."""
    for name, spec in properties.items():
        if place and spec.attname != name and spec.attname in properties:
            place.at(name).error(f"its key is stored as '{spec.attname}', which is a property", id=WRONG_NAME, key=True)


def _check_required(fields: Fields, properties: Mapping[str, PropertySpec]) -> None:
    declared = fields.get("properties")
    names = declared.value if declared and isinstance(declared.value, dict) else {}
    for item in fields.items("required"):
        if item.value not in names:
            message, hint = unknown("property", item.value, list(properties))
            item.error(message, hint=hint, id=PROPERTY)


def _model(fields: Fields) -> str | None:
    place = fields.get("model")
    if place is None:
        return None
    if not is_model(place.value):
        place.error(f"'{place.value}' names no model", hint="write app_label.Model", id=WRONG_VALUE)
        return None
    return str(place.value)


def _with_columns(fields: Fields, entity: EntitySpec) -> EntitySpec:
    """The entity with the field names of the model it is bound to."""
    place = fields.get("columns")
    if place is None:
        return entity
    if "model" not in fields:
        place.error("columns go with `model`: toa names its own", id=WRONG_VALUE, key=True)
        return entity
    renamed: dict[str, PropertySpec] = {}
    for entry in place.entries():
        spec = entity.selectable().get(entry.name)
        if spec is None:
            message, hint = unknown("property", entry.name, list(entity.selectable()))
            entry.error(message, hint=hint, id=PROPERTY, key=True)
        elif not isinstance(entry.value, str) or not entry.value.isidentifier():
            entry.error("must be the name of a field", id=WRONG_VALUE)
        else:
            attname = f"{entry.value}_id" if spec.type is PropertyType.REF else entry.value
            renamed[entry.name] = replace(spec, field=entry.value, attname=attname)
    return replace(
        entity,
        id=renamed.get("id", entity.id),
        properties={name: renamed.get(name, spec) for name, spec in entity.properties.items()},
        system={name: renamed.get(name, spec) for name, spec in entity.system.items()},
    )


def _blank(place: Place | None, entity: EntitySpec) -> dict[str, Any]:
    """The blank's values as drafts hold them."""
    found: dict[str, Any] = {}
    for entry in place.entries() if place else ():
        spec = entity.properties.get(entry.name)
        if spec is None or entry.name == "id":
            message, hint = unknown("property", entry.name, [name for name in entity.properties if name != "id"])
            entry.error(message, hint=hint, id=PROPERTY, key=True)
        elif entry.value is None:
            if not spec.nullable:
                entry.error("the property is required, so its blank is not null", id=PROPERTY)
        else:
            try:
                found[entry.name] = compile_schema(spec.schema).check(entry.value)
            except InvalidInput as error:
                at, message = error.problems[0]
                entry.error(f"does not fit the property: {at + ' ' if at else ''}{message}", id=PROPERTY)
    return found


def _unique(place: Place | None, entity: EntitySpec) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in place.entries() if place else ():
        if check_name(entry) and _on(entry, entity, descending=False):
            found[entry.name] = tuple(entry.value)
    return found


def _indexes(place: Place | None, entity: EntitySpec) -> dict[str, IndexSpec]:
    found: dict[str, IndexSpec] = {}
    for entry in place.entries() if place else ():
        if not check_name(entry):
            continue
        fields = Fields(entry, INDEX) if isinstance(entry.value, dict) else None
        on = fields.get("on") if fields else entry
        if on is None:
            entry.error("an index needs `on`: the properties it is on", id=BAD_INDEX)
            continue
        where = fields.get("where") if fields else None
        sound = _on(on, entity, descending=True) & (where is None or _where(where, entity))
        if sound:
            found[entry.name] = IndexSpec(
                name=entry.name, on=tuple(on.value), where=None if where is None else where.value
            )
    return found


def _on(place: Place, entity: EntitySpec, *, descending: bool) -> bool:
    """Whether a list names properties that an index can be on; reports what does not."""
    known = entity.selectable() if descending else {"id": entity.id, **entity.properties}
    if not isinstance(place.value, list) or not place.value:
        place.error("must be a list of properties", id=BAD_INDEX)
        return False
    before = place.report.errors()
    seen: set[str] = set()
    for item in place.entries():
        name = item.value.removeprefix("-") if descending and isinstance(item.value, str) else item.value
        spec = known.get(name) if isinstance(name, str) else None
        if spec is None:
            item.error(f"no property is called '{name}'", hint=did_you_mean(str(name), sorted(known)), id=BAD_INDEX)
        elif spec.type in _UNINDEXED:
            item.error(f"'{name}' is of type {spec.type.value}, which no index orders", id=BAD_INDEX)
        elif name in seen:
            item.error(f"'{name}' stands twice", id=BAD_INDEX)
        seen.add(str(name))
    return place.report.errors() == before


def _where(place: Place, entity: EntitySpec) -> bool:
    try:
        parse_criteria(place.value, entity.selectable())
    except InvalidQuery as error:
        at = "" if error.position is None else f"at character {error.position + 1}: "
        place.error(f"{at}{error.message}", hint=error.hint, id=CRITERIA)
        return False
    return True
