"""Properties of an entity: from their JSON Schema to how they are stored, compared and shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toa.core.nearest import nearest
from toa.core.specs import PropertySpec, PropertyType, Schema
from toa.manifests.contracts import read_schema
from toa.manifests.decimals import DIGITS, PLACES
from toa.manifests.keywords import TYPES
from toa.manifests.names import is_model, property_problem
from toa.manifests.place import Place
from toa.manifests.problems import PROPERTY, WRONG_NAME

DEADLINE = "deadline"
"""Short form of a property that is the moment its transition is due."""

MOMENT_SCHEMA: Schema = {"type": "integer", "format": "epoch-millis"}
UUID_SCHEMA: Schema = {"type": "string", "format": "uuid"}

_BY_FORMAT = {
    "decimal": PropertyType.DECIMAL,
    "epoch-millis": PropertyType.MOMENT,
    "uuid": PropertyType.UUID,
    "date": PropertyType.DATE,
    "date-time": PropertyType.DATETIME,
    "email": PropertyType.EMAIL,
    "duration": PropertyType.STRING,
}
_STORED = tuple(kind for kind in TYPES if kind != "null")
_KEYS = frozenset({PropertyType.STRING, PropertyType.INTEGER, PropertyType.UUID})
_MAX_LENGTH_OF_COLUMN = 10_485_760


def read_property(place: Place, required: bool) -> PropertySpec | None:
    """The property at a place, or null where it does not hold."""
    problem = property_problem(place.name) if place.name != "id" else None
    if problem:
        place.error(problem, id=WRONG_NAME, key=True)
        return None
    if place.value == DEADLINE:
        return moment_property(place.name, deadline=True)
    if isinstance(place.value, dict) and "default" in place.value:
        place.at("default").error(
            "a property has no default",
            hint=f"write entity.blank.{place.name}: the values before anything was written",
            id=PROPERTY,
        )
        return None
    if isinstance(place.value, dict) and "ref" in place.value:
        return _reference(place, required)
    if isinstance(place.value, str) and nearest(place.value, [*TYPES, DEADLINE]) == DEADLINE:
        place.error(f"no type is called '{place.value}'", hint=f"did you mean '{DEADLINE}'?", id=PROPERTY)
        return None
    schema = read_schema(place)
    if schema is None:
        return None
    kind = _kind(place, schema)
    if kind is None or not _stored_as_meant(place, schema):
        return None
    return PropertySpec(
        name=place.name,
        type=kind,
        schema=_bare(schema),
        nullable=not required and place.name != "id",
        field=place.name,
        attname=place.name,
        max_length=schema.get("maxLength") if kind is PropertyType.STRING else None,
        enum=_enum(kind, schema),
        digits=schema.get("digits", DIGITS) if kind is PropertyType.DECIMAL else None,
        places=schema.get("places", PLACES) if kind is PropertyType.DECIMAL else None,
        description=str(schema.get("description", "")),
    )


def moment_property(name: str, *, deadline: bool = False, system: bool = False, field: str = "") -> PropertySpec:
    """A nullable moment."""
    return PropertySpec(
        name=name,
        type=PropertyType.MOMENT,
        schema=MOMENT_SCHEMA,
        deadline=deadline,
        system=system,
        field=field or name,
        attname=field or name,
    )


def uuid_id() -> PropertySpec:
    """The `id` of an entity that declares none."""
    return PropertySpec(name="id", type=PropertyType.UUID, schema=UUID_SCHEMA, nullable=False, field="id", attname="id")


def check_id(place: Place, spec: PropertySpec) -> bool:
    """Whether a declared `id` may be a primary key; reports it where not."""
    if spec.type in _KEYS:
        return True
    place.error(f"an id is text, an integer or a UUID, not {spec.type.value}", id=PROPERTY)
    return False


def row_schema(properties: Mapping[str, PropertySpec]) -> Schema:
    """What every written row must satisfy: each property its schema or, where it may be missing, null."""
    return {
        "type": "object",
        "properties": {
            name: or_null(spec.schema) if spec.nullable else dict(spec.schema) for name, spec in properties.items()
        },
        "required": [name for name, spec in properties.items() if not spec.nullable],
        "additionalProperties": False,
    }


def or_null(schema: Schema) -> dict[str, Any]:
    """The schema with null beside it. Mostly by its `type`, which is the cheapest to check."""
    kinds = schema.get("type")
    if kinds is None or "const" in schema or any(key in schema for key in ("$ref", "anyOf", "oneOf", "allOf", "not")):
        return {"anyOf": [{"type": "null"}, dict(schema)]}
    widened = dict(schema)
    widened["type"] = [kinds, "null"] if isinstance(kinds, str) else [*kinds, "null"]
    if "enum" in schema:
        widened["enum"] = [*schema["enum"], None]
    return widened


def _kind(place: Place, schema: Schema) -> PropertyType | None:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        hint = "leave a property out of `required` to allow null" if "null" in kinds else ""
        place.at("type").error("a property has one type", hint=hint, id=PROPERTY)
        return None
    if kinds not in _STORED:
        place.error("a property needs a type", hint=f"one of {', '.join(_STORED)}", id=PROPERTY)
        return None
    return _BY_FORMAT.get(schema.get("format", ""), PropertyType(kinds))


def _stored_as_meant(place: Place, schema: Schema) -> bool:
    before = place.report.errors()
    if schema.get("type") == "string" and schema.get("maxLength", 1) > _MAX_LENGTH_OF_COLUMN:
        place.at("maxLength").error(
            f"a column holds at most {_MAX_LENGTH_OF_COLUMN} characters", hint="leave maxLength out", id=PROPERTY
        )
    if schema.get("type") == "string" and schema.get("maxLength") == 0:
        place.at("maxLength").error("nothing fits a text of no characters", id=PROPERTY)
    return place.report.errors() == before


def _bare(schema: Schema) -> Schema:
    """The schema without what is said elsewhere."""
    return {key: value for key, value in schema.items() if key not in ("description", "title", "$comment", "examples")}


def _enum(kind: PropertyType, schema: Schema) -> tuple[str, ...] | None:
    values = schema.get("enum")
    return tuple(values) if values is not None and kind is PropertyType.STRING else None


def _reference(place: Place, required: bool) -> PropertySpec | None:
    """`{ref: app.Model}`; the rest is the schema of the key, text or an integer unless it says more."""
    model = place.value["ref"]
    if not isinstance(model, str) or not is_model(model):
        place.at("ref").error("a ref names a model as app_label.Model", id=PROPERTY)
        return None
    key = Place(place.report, place.path, {name: part for name, part in place.value.items() if name != "ref"})
    schema = read_schema(key, implied={"type": ["string", "integer"]} if "type" not in key.value else None)
    if schema is None or not _stored_as_meant(place, schema):
        return None
    return PropertySpec(
        name=place.name,
        type=PropertyType.REF,
        schema=_bare(schema),
        nullable=not required,
        field=place.name,
        attname=f"{place.name}_id",
        ref=model,
        description=str(schema.get("description", "")),
    )
