"""The manifest's own JSON Schema, draft-07, for editors. Written from the tables that the reader follows.

`schema.json` beside this module is what it writes; a test holds the two together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toa.manifests.formats import FORMATS
from toa.manifests.keys import MANIFEST, PULSE, SCHEDULE, Key, Kind, Table
from toa.manifests.keywords import LISTS_OF_SCHEMAS, MAPPINGS_OF_SCHEMAS, SCHEMAS, TYPES

SCHEMA_PATH = Path(__file__).with_name("schema.json")

_NAME = "^[A-Za-z][A-Za-z0-9_]{0,62}$"
_SCHEMA = {"$ref": "#/definitions/schema"}
_TEXT = {"type": "string", "minLength": 1}
_NAMES = {"type": "array", "items": _TEXT, "uniqueItems": True}
_COUNT = {"type": "integer", "minimum": 0}
_DURATION: dict[str, Any] = {
    "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^([0-9]+(w|d|h|m|s|ms))+$"}]
}

_KEYWORDS: dict[str, Any] = {
    "$comment": _TEXT,
    "$ref": {"type": "string", "pattern": "^#(/|$)"},
    "const": {},
    "default": {},
    "dependencies": {"type": "object", "additionalProperties": {"anyOf": [_SCHEMA, _NAMES]}},
    "description": _TEXT,
    "enum": {"type": "array", "minItems": 1},
    "examples": {"type": "array"},
    "exclusiveMaximum": {"type": "number"},
    "exclusiveMinimum": {"type": "number"},
    "format": {"enum": sorted(FORMATS)},
    "maxItems": _COUNT,
    "maxLength": _COUNT,
    "maxProperties": _COUNT,
    "maximum": {"type": "number"},
    "minItems": _COUNT,
    "minLength": _COUNT,
    "minProperties": _COUNT,
    "minimum": {"type": "number"},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "pattern": {"type": "string"},
    "readOnly": {"type": "boolean"},
    "required": _NAMES,
    "title": _TEXT,
    "type": {"anyOf": [{"enum": list(TYPES)}, {"type": "array", "items": {"enum": list(TYPES)}, "minItems": 1}]},
    "uniqueItems": {"type": "boolean"},
    "writeOnly": {"type": "boolean"},
    "digits": {"type": "integer", "minimum": 1},
    "places": _COUNT,
}


def manifest_schema() -> dict[str, Any]:
    """The schema of a manifest as data."""
    schema = _mapping(MANIFEST)
    cadence = schema["properties"]["cadence"]
    cadence["additionalProperties"] = {"$ref": "#/definitions/cadence"}
    entity = schema["properties"]["entity"]["anyOf"][0]
    entity["properties"]["properties"]["anyOf"][0]["additionalProperties"] = {"$ref": "#/definitions/property"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A component of toa: manifest.toa.yaml",
        **schema,
        "definitions": {"cadence": _cadence(), "property": _property(), "schema": _schema()},
    }


def schema_text() -> str:
    """The schema as text, as `schema.json` holds it."""
    return json.dumps(manifest_schema(), indent=2, ensure_ascii=False) + "\n"


def _mapping(table: Table) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _fragment(key) for name, key in table.items()},
        "additionalProperties": False,
    }


def _fragment(key: Key) -> dict[str, Any]:
    forms = [_of_kind(kind, key) for kind in (key.kind, *key.short)]
    if key.null or key.kind is Kind.MAPPING:
        forms.append({"type": "null"})
    fragment = forms[0] if len(forms) == 1 else {"anyOf": forms}
    return {"description": key.about, **fragment}


def _of_kind(kind: Kind, key: Key) -> dict[str, Any]:
    match kind:
        case Kind.TEXT:
            return {"enum": list(key.values)} if key.values else dict(_TEXT)
        case Kind.FLAG:
            return {"type": "boolean"}
        case Kind.INTEGER:
            return {"type": "integer", "minimum": key.least, "maximum": key.most}
        case Kind.NAMES:
            return dict(_NAMES)
        case Kind.MAPPING if key.holds is not None:
            return _mapping(key.holds)
        case Kind.MAPPING:
            each: Any = True if key.each is None else _fragment(key.each)
            return {"type": "object", "additionalProperties": each}
        case Kind.SCHEMA:
            return dict(_SCHEMA)
        case Kind.DURATION:
            return dict(_DURATION)
        case Kind.ANY:
            return {}


def _schema() -> dict[str, Any]:
    """A JSON Schema with short forms, at every depth."""
    keywords = dict(_KEYWORDS)
    for keyword in sorted(SCHEMAS):
        keywords[keyword] = _SCHEMA
    keywords["items"] = {"anyOf": [_SCHEMA, {"type": "array", "items": _SCHEMA}]}
    for keyword in sorted(LISTS_OF_SCHEMAS):
        keywords[keyword] = {"type": "array", "items": _SCHEMA, "minItems": 1}
    for keyword in sorted(MAPPINGS_OF_SCHEMAS):
        keywords[keyword] = {"type": "object", "additionalProperties": _SCHEMA}
    return {"anyOf": [{"enum": list(TYPES)}, {"type": "boolean"}, _closed(keywords)]}


def _property() -> dict[str, Any]:
    kinds = [kind for kind in TYPES if kind != "null"]
    reference = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*\\.[A-Za-z][A-Za-z0-9_]*$"}
    rest: dict[str, Any] = {
        name: {} for name in ("description", "format", "maxLength", "maximum", "minimum", "pattern", "type")
    }
    return {
        "anyOf": [
            {"enum": [*kinds, "deadline"]},
            {"$ref": "#/definitions/schema"},
            {**_closed({"ref": reference, **rest}), "required": ["ref"]},
        ]
    }


def _cadence() -> dict[str, Any]:
    single: list[dict[str, Any]] = [
        {"type": "number", "minimum": 1},
        dict(_TEXT),
        {**_mapping(PULSE), "required": ["cycle"]},
        {**_mapping(SCHEDULE), "required": ["schedule"]},
    ]
    named = [{**form, "required": [*form["required"], "name"]} for form in single[2:]]
    return {"anyOf": [*single, {"type": "array", "items": {"anyOf": named}, "minItems": 1}]}


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}
