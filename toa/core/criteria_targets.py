"""What a selector leads to: a property, or a member of the object that a property holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toa.core.criteria_nodes import ORDERING, Operator
from toa.core.nearest import did_you_mean
from toa.core.specs import PropertySpec, PropertyType
from toa.exceptions import InvalidQuery

_UNORDERED = frozenset({PropertyType.BOOLEAN, PropertyType.OBJECT, PropertyType.ARRAY, PropertyType.REF})


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What values of a comparison are read for."""

    selector: str
    path: tuple[str, ...] = ()
    type: PropertyType | None
    """None for a member that no schema declares: its value's own spelling decides."""
    enum: tuple[str, ...] | None = None
    digits: int | None = None
    places: int | None = None

    @property
    def label(self) -> str:
        return ".".join((self.selector, *self.path))


def target(name: str, path: tuple[str, ...], properties: Mapping[str, PropertySpec], position: int | None) -> Target:
    """What `name` and `path` lead to. Raises `InvalidQuery` for what is not there."""
    spec = properties.get(name)
    if spec is None:
        raise InvalidQuery(f"no property {name!r}", position=position, hint=did_you_mean(name, properties))
    if path:
        return _member(spec, path, position)
    return Target(selector=name, type=key_type(spec), enum=spec.enum, digits=spec.digits, places=spec.places)


def key_type(spec: PropertySpec) -> PropertyType:
    """The property's type; of a ref the type of its key, where the ref's schema tells it."""
    if spec.type is not PropertyType.REF:
        return spec.type
    match spec.schema.get("type"), spec.schema.get("format"):
        case "integer", None:
            return PropertyType.INTEGER
        case "string", "uuid":
            return PropertyType.UUID
        case "string", None:
            return PropertyType.STRING
    return PropertyType.REF


def check_operator(
    found: Target, operator: Operator, kind: PropertyType, *, null: bool = False, position: int | None = None
) -> None:
    """Refuse an operator that the target's type or a null does not take."""
    if null and operator not in (Operator.EQ, Operator.NE):
        raise InvalidQuery(
            f"null compares with == and != only, not with {operator}",
            position=position,
            hint="write 'null' for the text",
        )
    if operator in ORDERING and kind in _UNORDERED:
        raise InvalidQuery(f"{found.label!r} is of type {kind}, which has no order", position=position)


def _member(spec: PropertySpec, path: tuple[str, ...], position: int | None) -> Target:
    label, kind, schema = spec.name, spec.type, spec.schema
    known: PropertyType | None = kind
    for key in path:
        if known is not None and known is not PropertyType.OBJECT:
            raise InvalidQuery(
                f"{label!r} is of type {known}, which has no members; {key!r} leads nowhere",
                position=position,
            )
        schema = _schema_of(schema, key, label, position)
        known = _json_type(schema)
        label = f"{label}.{key}"
    values = schema.get("enum")
    texts = tuple(v for v in values if isinstance(v, str)) if isinstance(values, list | tuple) else None
    return Target(
        selector=spec.name,
        path=path,
        type=known,
        enum=texts if known is PropertyType.STRING else None,
        digits=schema.get("digits"),
        places=schema.get("places"),
    )


def _schema_of(schema: Mapping[str, Any], key: str, label: str, position: int | None) -> Mapping[str, Any]:
    declared = schema.get("properties", {})
    found = declared.get(key)
    if found is None and "patternProperties" not in schema:
        found = schema.get("additionalProperties", {})
        if found is False:
            raise InvalidQuery(f"no member {key!r} in {label!r}", position=position, hint=did_you_mean(key, declared))
    if isinstance(found, str):
        return {"type": found}
    return found if isinstance(found, Mapping) else {}


def _json_type(schema: Mapping[str, Any]) -> PropertyType | None:
    """How a member compares: as the JSON that is stored. A UUID has one spelling there, dates are texts."""
    name = schema.get("type")
    if isinstance(name, list | tuple):
        rest = [n for n in name if n != "null"]
        name = rest[0] if len(rest) == 1 else None
    match name, schema.get("format"):
        case "integer", "epoch-millis":
            return PropertyType.MOMENT
        case "number", "decimal":
            return PropertyType.DECIMAL
        case "string", "uuid":
            return PropertyType.UUID
        case (("string" | "integer" | "number" | "boolean" | "object" | "array"), _):
            return PropertyType(name)
    return None
