"""Schemas of manifests (draft-07, with formats of toa's own) as OpenAPI 3.1 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toa.core.specs import EntitySpec, PropertySpec, PropertyType, Schema
from toa.manifests.decimals import DIGITS, PLACES
from toa.rest.paging import visible

_MAPPINGS = ("properties", "patternProperties")
_PARTS = ("items", "additionalProperties", "additionalItems", "not", "contains", "propertyNames", "if", "then", "else")
_LISTS = ("allOf", "anyOf", "oneOf")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "digits", "places", "type")
_DEFINED = "#/definitions/"


def written(schema: Any, definitions: str = "") -> Any:
    """The schema in the words of JSON Schema 2020-12. A reference leads to the components called `definitions…`."""
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        target = str(schema["$ref"])
        name = target.removeprefix(_DEFINED)
        # A reference into the middle of a schema has no name to be found under: anything may stand there.
        return {"$ref": f"#/components/schemas/{definitions}{name}"} if target.startswith(_DEFINED) else {}
    if schema.get("format") == "decimal":
        return _decimal(schema)
    found = {key: value for key, value in schema.items() if key not in ("definitions", "dependencies")}
    for key in found:
        if key in _MAPPINGS:
            found[key] = {name: written(part, definitions) for name, part in found[key].items()}
        elif key in _LISTS:
            found[key] = [written(part, definitions) for part in found[key]]
        elif key in _PARTS and not isinstance(found[key], list):
            found[key] = written(found[key], definitions)
    if isinstance(found.get("items"), list):
        found["prefixItems"] = [written(part, definitions) for part in found.pop("items")]
        rest = found.pop("additionalItems", None)
        if rest is not None:
            found["items"] = rest
    return found


def entity_schema(entity: EntitySpec) -> dict[str, Any]:
    """An object as reads give it."""
    properties = visible(entity)
    return {"type": "object", "properties": {name: property_schema(spec) for name, spec in properties.items()}}


def property_schema(spec: PropertySpec) -> dict[str, Any]:
    """A property as reads give it, null included where it may be."""
    if spec.type is PropertyType.UUID:
        schema: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
    elif spec.type is PropertyType.MOMENT:
        schema = {"type": "integer", "description": "Epoch milliseconds."}
    else:
        schema = dict(written(spec.schema))
    if spec.description:
        schema["description"] = spec.description
    kind = schema.get("type")
    if spec.nullable and kind is not None:
        schema["type"] = [*([kind] if isinstance(kind, str) else kind), "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def _decimal(schema: Schema) -> dict[str, Any]:
    """A decimal is text; its bounds, which JSON Schema has for numbers alone, are told in words."""
    digits, places = schema.get("digits", DIGITS), schema.get("places", PLACES)
    told = [
        f"{key} {schema[key]}"
        for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        if key in schema
    ]
    text = (
        f"An amount in plain digits, {digits} in all, {places} after the point{''.join(f', {part}' for part in told)}."
    )
    fraction = rf"(\.[0-9]{{1,{places}}})?" if places else ""
    sign = "" if schema.get("minimum", -1) >= 0 else "-?"
    found = {key: value for key, value in schema.items() if key not in _BOUNDS}
    whole = rf"(0|[1-9][0-9]{{0,{digits - places - 1}}})" if digits > places else "0"
    return {
        **found,
        "type": "string",
        "pattern": f"^{sign}{whole}{fraction}$",
        "description": schema.get("description", text),
    }
