"""The JSON Schemas inside a manifest: short forms written out, and every keyword checked where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema_rs
from jsonschema import Draft7Validator

from toa.core.nearest import did_you_mean
from toa.core.specs import Schema
from toa.exceptions import InvalidInput
from toa.manifests.decimals import MAX_DIGITS
from toa.manifests.formats import FORMATS
from toa.manifests.keywords import (
    KEYWORDS,
    LISTS_OF_SCHEMAS,
    MAPPINGS_OF_SCHEMAS,
    OURS,
    SCHEMAS,
    TYPES,
    UNCERTAIN,
)
from toa.manifests.patterns import UnfitPattern, check_pattern
from toa.manifests.place import Place, described
from toa.manifests.pointers import resolve
from toa.manifests.problems import SCHEMA
from toa.manifests.references import endless, rebased
from toa.manifests.schemas import compile_schema
from toa.manifests.wording import sentence

_META: Any = Draft7Validator(Draft7Validator.META_SCHEMA)
_META_FITS = jsonschema_rs.Draft7Validator(dict(Draft7Validator.META_SCHEMA), validate_formats=False).is_valid
_BESIDE_REF = frozenset({"$ref", "definitions", "title", "description", "$comment"})


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


def sub_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """The schemas right below a schema: path, the keyword that holds them, and the schema itself."""
    for keyword, value in schema.items():
        if keyword in SCHEMAS and not isinstance(value, list):
            yield (keyword,), keyword, value
        elif keyword in LISTS_OF_SCHEMAS or (keyword == "items" and isinstance(value, list)):
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
        self._walk(self.root, (), certain=True)
        if self.place.report.errors() > before:
            return
        loop = endless(self.root)
        if loop is not None:
            self._error(loop, "the $ref leads back to itself without going into the value")
            return
        self._values(self.root, ())
        try:
            compile_schema(self.root)
        except ValueError as error:
            self._error((), f"the schema cannot be compiled: {error}")

    def _error(self, path: tuple[str | int, ...], message: str, *, hint: str = "") -> None:
        self.place.at(*path).error(message, id=SCHEMA, hint=hint)

    def _walk(self, schema: Any, path: tuple[str | int, ...], *, certain: bool) -> None:
        if not isinstance(schema, dict):
            return
        for rule in (_format, _decimal, _pattern, _reference, _required, _bounds):
            for below, message, hint in rule(schema, self.root):
                self._error((*path, *below), message, hint=hint)
        if not certain:
            self._uncertain(schema, path)
        for below, keyword, part in sub_schemas(schema):
            sure = certain and not (keyword in UNCERTAIN and not _or_null(schema, keyword))
            self._walk(part, (*path, *below), certain=sure)

    def _uncertain(self, schema: Mapping[str, Any], path: tuple[str | int, ...]) -> None:
        """Nothing can be filled in or converted where it is open whether the schema applies."""
        if "default" in schema:
            self._error((*path, "default"), "a default below a choice would never be filled in")
        if schema.get("format") == "decimal":
            self._error(
                (*path, "format"),
                "a decimal below a choice cannot be told from text",
                hint="only a choice between it and null is certain",
            )

    def _values(self, schema: Any, path: tuple[str | int, ...]) -> None:
        """Defaults and enumerated values must fit the schema they stand in."""
        if not isinstance(schema, dict):
            return
        given = [(("default",), schema["default"])] if "default" in schema else []
        listed = [(("enum", index), value) for index, value in enumerate(schema.get("enum", ()))]
        listed += [(("const",), schema["const"])] if "const" in schema else []
        if given or listed:
            bare = {key: value for key, value in schema.items() if key != "default"}
            self._fit(given, bare, path)
            self._fit(listed, {key: value for key, value in bare.items() if key not in ("enum", "const")}, path)
        for below, _, part in sub_schemas(schema):
            self._values(part, (*path, *below))

    def _fit(
        self, values: list[tuple[tuple[str | int, ...], Any]], schema: Mapping[str, Any], path: tuple[str | int, ...]
    ) -> None:
        if not values:
            return
        try:
            checker = compile_schema(rebased(schema, self.root))
        except ValueError as error:
            self._error(path, f"the schema cannot be compiled: {error}")
            return
        for below, value in values:
            try:
                checker.check(value)
            except InvalidInput as error:
                at, message = error.problems[0]
                where = f"{at} " if at else ""
                self._error((*path, *below), f"does not fit its own schema: {where}{message}")


Found = Iterator[tuple[tuple[str | int, ...], str, str]]
Rule = Callable[[Mapping[str, Any], Mapping[str, Any]], Found]


def _kinds(schema: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def _or_null(schema: Mapping[str, Any], keyword: str) -> bool:
    """Whether the keyword's choice is between null and one schema: then what applies is certain."""
    parts = schema.get(keyword)
    return isinstance(parts, list) and len(parts) == 2 and {"type": "null"} in parts


def _format(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    name = schema.get("format")
    if name is None:
        return
    known = FORMATS.get(name)
    if known is None:
        yield ("format",), f"no format is called '{name}'", did_you_mean(name, sorted(FORMATS))
    elif set(_kinds(schema)) - {"null"} != {known.type}:
        yield ("format",), f"the format {name} goes with `type: {known.type}`", ""


def _decimal(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    if schema.get("format") != "decimal":
        for key in sorted(OURS & schema.keys()):
            yield (key,), f"{key} goes with `format: decimal`", ""
        return
    sound = True
    for key, least in (("digits", 1), ("places", 0)):
        value = schema.get(key, least)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_DIGITS:
            sound = False
            yield (key,), f"must be an integer from {least} to {MAX_DIGITS}", ""
    if sound and schema.get("places", 2) > schema.get("digits", 20):
        yield ("places",) if "places" in schema else ("digits",), "more places than digits", ""


def _pattern(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    patterns = [(("pattern",), schema["pattern"])] if "pattern" in schema else []
    patterns += [(("patternProperties", name), name) for name in schema.get("patternProperties", ())]
    for path, pattern in patterns:
        try:
            check_pattern(pattern)
        except UnfitPattern as error:
            yield path, str(error), ""


def _reference(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    if "$ref" not in schema:
        return
    reference = schema["$ref"]
    try:
        found = resolve(root, reference)
    except (LookupError, ValueError):
        hint = "" if reference.startswith("#/") else "a $ref stays inside its schema: #/definitions/<name>"
        yield ("$ref",), f"the $ref {reference!r} leads nowhere", hint
    else:
        if not isinstance(found, (dict, bool)):
            yield ("$ref",), f"the $ref {reference!r} leads to something that is no schema", ""
    for key in schema.keys() - _BESIDE_REF:
        yield (key,), f"{key} beside $ref is ignored by draft-07", "put both under allOf"


def _required(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return
    for index, name in enumerate(schema.get("required", ())):
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            yield ("required", index), f"'{name}' is required, but is none of the properties", hint


def _bounds(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    pairs = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
    for low, high in (*pairs, ("minProperties", "maxProperties")):
        if low in schema and high in schema and schema[low] > schema[high]:
            yield (high,), f"{high} is less than {low}: nothing fits", ""
