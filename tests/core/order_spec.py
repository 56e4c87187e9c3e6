"""An entity with a property of every type, built by hand."""

from __future__ import annotations

from typing import Any

from toa.core.specs import EntitySpec, PropertySpec, PropertyType

DETAILS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "green"]},
        "note": {"type": ["string", "null"]},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "price": {"type": "number", "format": "decimal", "digits": 8, "places": 2},
        "flag": {"type": "boolean"},
        "since": {"type": "integer", "format": "epoch-millis"},
        "code": {"type": "string", "format": "uuid"},
        "tags": {"type": "array"},
        "box": {
            "type": "object",
            "properties": {"depth": {"type": "integer"}},
            "additionalProperties": False,
        },
        "held": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}


def prop(name: str, kind: PropertyType, **options: Any) -> PropertySpec:
    """A property whose field has its name, unless options say otherwise."""
    names = {"field": name, "attname": options.get("field", name)}
    return PropertySpec(**{"name": name, "type": kind, "schema": {}, **names, **options})


def _by_name(*specs: PropertySpec) -> dict[str, PropertySpec]:
    return {spec.name: spec for spec in specs}


ORDER = EntitySpec(
    id=prop("id", PropertyType.UUID, nullable=False),
    properties=_by_name(
        prop("reference", PropertyType.STRING, nullable=False, max_length=64),
        prop("customer", PropertyType.STRING),
        prop("status", PropertyType.STRING, enum=("pending", "approved", "packed", "cancelled")),
        prop("quantity", PropertyType.INTEGER),
        prop("total", PropertyType.DECIMAL, digits=20, places=2),
        prop("weight", PropertyType.NUMBER),
        prop("gift", PropertyType.BOOLEAN),
        prop("pay_by", PropertyType.MOMENT),
        prop("token", PropertyType.UUID),
        prop("day", PropertyType.DATE),
        prop("seen", PropertyType.DATETIME),
        prop("mail", PropertyType.EMAIL),
        prop("owner", PropertyType.REF, ref="auth.Group", attname="owner_id"),
        prop("seller", PropertyType.REF, ref="auth.Group", schema={"type": "integer"}, attname="seller_id"),
        prop("details", PropertyType.OBJECT, schema=DETAILS),
        prop("marks", PropertyType.ARRAY),
    ),
    system=_by_name(
        prop("CREATED", PropertyType.MOMENT, nullable=False, system=True, field="created_at"),
        prop("UPDATED", PropertyType.MOMENT, nullable=False, system=True, field="updated_at"),
        prop("DELETED", PropertyType.MOMENT, system=True, field="deleted_at"),
        prop("VERSION", PropertyType.INTEGER, nullable=False, system=True, field="version"),
    ),
)
PROPERTIES = ORDER.selectable()
