"""The keywords of draft-07 that a manifest's JSON Schemas may use, by what they hold."""

from __future__ import annotations

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")

SCHEMAS = frozenset(
    {"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
)
"""Keywords that hold a schema; `items` may hold a list of them instead."""

MAPPINGS_OF_SCHEMAS = frozenset({"definitions", "patternProperties", "properties"})
LISTS_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf"})

OTHERS = frozenset(
    {
        "$comment",
        "$ref",
        "const",
        "default",
        "dependencies",
        "description",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "readOnly",
        "required",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    }
)

OURS = frozenset({"digits", "places"})
"""Beside `format: decimal`."""

KEYWORDS = SCHEMAS | MAPPINGS_OF_SCHEMAS | LISTS_OF_SCHEMAS | OTHERS | OURS

_NUMBERS = frozenset({"integer", "number"})
_TEXT = frozenset({"string"})
_ARRAY = frozenset({"array"})
_OBJECT = frozenset({"object"})

KINDS_OF: dict[str, frozenset[str]] = {
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"), _NUMBERS),
    **dict.fromkeys(("maxLength", "minLength", "pattern"), _TEXT),
    **dict.fromkeys(("additionalItems", "contains", "items", "maxItems", "minItems", "uniqueItems"), _ARRAY),
    **dict.fromkeys(
        (
            "additionalProperties",
            "dependencies",
            "maxProperties",
            "minProperties",
            "patternProperties",
            "properties",
            "propertyNames",
            "required",
        ),
        _OBJECT,
    ),
}
"""Keywords that say something about values of certain types only."""

UNCERTAIN = frozenset({"anyOf", "contains", "else", "if", "not", "oneOf", "propertyNames", "then"})
"""Keywords whose schemas may or may not apply to a value: nothing can be converted or filled in below them."""
