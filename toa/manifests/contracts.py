"""The JSON Schemas inside a manifest: short forms written out, and every keyword checked where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
from jsonschema import Draft7Validator

from toa.core.nearest import did_you_mean
from toa.core.specs import Schema
from toa.exceptions import InvalidInput
from toa.manifests.formats import FORMATS
from toa.manifests.keywords import (
    KEYWORDS,
    LISTS_OF_SCHEMAS,
    MAPPINGS_OF_SCHEMAS,
    SCHEMAS,
    TYPES,
    UNCERTAIN,
)
from toa.manifests.normalise import UnfitDefault
from toa.manifests.place import Place, described
from toa.manifests.problems import SCHEMA
from toa.manifests.references import endless, rebased
from toa.manifests.schema_rules import RULES, SchemaPath
from toa.manifests.schemas import compile_schema
from toa.manifests.wording import sentence

_META: Any = Draft7Validator(Draft7Validator.META_SCHEMA)
_META_FITS = jsonschema_rs.Draft7Validator(dict(Draft7Validator.META_SCHEMA), validate_formats=False).is_valid


def read_schema(place: Place, *, implied: Mapping[str, Any] | None = None) -> Schema | None:
    """The schema at a place with its short forms written out, or null where it does not hold (and was reported).

    `implied` are keywords that count as written where they are missing.
    """
    before = place.report.errors()
    schema = _expand(place)
    if place.report.errors() > before:
        return None
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    schema = {**(implied or {}), **schema}
    if not _META_FITS(schema):
        for error in _META.iter_errors(schema):
            place.at(*error.absolute_path).error(sentence(error), id=SCHEMA)
        return None
    _Check(place, schema).run()
    return schema if place.report.errors() == before else None


def sub_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[SchemaPath, str, Any]]:
    """The schemas right below a schema: path, the keyword that holds them, and the schema itself."""
    for keyword, value in schema.items():
        if keyword in SCHEMAS and not isinstance(value, list):
            yield (keyword,), keyword, value
        elif keyword in (*LISTS_OF_SCHEMAS, "items") and isinstance(value, list):
            for index, part in enumerate(value):
                yield (keyword, index), keyword, part
        elif keyword in MAPPINGS_OF_SCHEMAS and isinstance(value, dict):
            for name, part in value.items():
                yield (keyword, name), keyword, part
        elif keyword == "dependencies" and isinstance(value, dict):
            for name, part in value.items():
                if not isinstance(part, list):
                    yield (keyword, name), "if", part


def _expand(place: Place) -> Any:
    """A copy with `name: string` written as `name: {type: string}`, at every place where a schema stands."""
    value = place.value
    if isinstance(value, str):
        _check_type(place, value)
        return {"type": value}
    if isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        place.error(f"a JSON Schema is a mapping or the name of a type, not {described(value)}", id=SCHEMA)
        return {}
    for key in value:
        if key not in KEYWORDS:
            place.at(key).error(
                f"no keyword of JSON Schema is called '{key}'",
                hint=did_you_mean(key, sorted(KEYWORDS)),
                id=SCHEMA,
                key=True,
            )
    result = dict(value)
    for path, _, _ in sub_schemas(value):
        part = _expand(place.at(*path))
        if len(path) == 1:
            result[path[0]] = part
        else:
            keyword, member = str(path[0]), path[1]
            if result[keyword] is value[keyword]:
                result[keyword] = value[keyword].copy()
            result[keyword][member] = part
    kinds = value.get("type")
    for index, kind in enumerate(kinds if isinstance(kinds, list) else [kinds]):
        if isinstance(kind, str):
            _check_type(place.at("type", index) if isinstance(kinds, list) else place.at("type"), kind)
    return result


def _check_type(place: Place, kind: str) -> None:
    if kind in TYPES:
        return
    if kind in FORMATS:
        hint = f"write {{ type: {FORMATS[kind].type}, format: {kind} }}"
    else:
        hint = did_you_mean(kind, TYPES)
    place.error(f"no type is called '{kind}'", hint=hint, id=SCHEMA)


class _Check:
    """The rules beyond draft-07's own schema, over one whole schema."""

    def __init__(self, place: Place, root: Mapping[str, Any]) -> None:
        self.place = place
        self.root = root

    def run(self) -> None:
        before = self.place.report.errors()
        self._walk(self.root, (), certain=True, held_by="")
        if self.place.report.errors() > before:
            return
        loop = endless(self.root)
        if loop is not None:
            self._error(loop, "the $ref leads back to itself without going into the value")
            return
        try:
            compile_schema(self.root)
        except UnfitDefault:
            pass  # found again below, where its place is known
        except ValueError as error:
            self._error((), f"the schema cannot be compiled: {error}")
            return
        self._values(self.root, ())

    def _error(self, path: SchemaPath, message: str, *, hint: str = "") -> None:
        self.place.at(*path).error(message, id=SCHEMA, hint=hint)

    def _walk(self, schema: Any, path: SchemaPath, *, certain: bool, held_by: str) -> None:
        if not isinstance(schema, dict):
            return
        for rule in RULES:
            for below, message, hint in rule(schema, self.root):
                self._error((*path, *below), message, hint=hint)
        if "default" in schema and not (certain and held_by == "properties"):
            self._error((*path, "default"), "this default is never filled in", hint="a default stands at a property")
        if schema.get("format") == "decimal" and not certain:
            self._error(
                (*path, "format"),
                "a decimal below a choice cannot be told from text",
                hint="only a choice between it and null is certain",
            )
        for below, keyword, part in sub_schemas(schema):
            sure = certain and not (keyword in UNCERTAIN and not _or_null(schema, keyword))
            self._walk(part, (*path, *below), certain=sure, held_by=keyword)

    def _values(self, schema: Any, path: SchemaPath) -> None:
        """Defaults and enumerated values must fit the schema they stand in."""
        if not isinstance(schema, dict):
            return
        before = self.place.report.errors()
        for below, _, part in sub_schemas(schema):
            self._values(part, (*path, *below))
        if self.place.report.errors() > before:
            return  # a value is not held against a schema that does not hold itself
        given: list[tuple[SchemaPath, Any]] = [(("default",), schema["default"])] if "default" in schema else []
        listed: list[tuple[SchemaPath, Any]] = [(("const",), schema["const"])] if "const" in schema else []
        listed += [(("enum", index), value) for index, value in enumerate(schema.get("enum", ()))]
        if given or listed:
            bare = {key: value for key, value in schema.items() if key != "default"}
            self._fit(given, bare, path)
            self._fit(listed, {key: value for key, value in bare.items() if key not in ("enum", "const")}, path)

    def _fit(self, values: list[tuple[SchemaPath, Any]], schema: Mapping[str, Any], path: SchemaPath) -> None:
        if not values:
            return
        checker = compile_schema(rebased(schema, self.root))
        for below, value in values:
            try:
                checker.check(value)
            except InvalidInput as error:
                at, message = error.problems[0]
                where = f"{at} " if at else ""
                self._error((*path, *below), f"does not fit its own schema: {where}{message}")


def _or_null(schema: Mapping[str, Any], keyword: str) -> bool:
    """Whether the keyword's choice is between null and one schema: then what applies is certain."""
    parts = schema.get(keyword)
    return isinstance(parts, list) and len(parts) == 2 and {"type": "null"} in parts
