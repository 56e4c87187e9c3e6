"""Rules for the keywords of a JSON Schema that draft-07's own schema does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from toa.core.nearest import did_you_mean
from toa.manifests.decimals import DIGITS, MAX_DIGITS, PLACES
from toa.manifests.formats import FORMATS
from toa.manifests.keywords import KINDS_OF, OURS
from toa.manifests.patterns import UnfitPattern, check_pattern
from toa.manifests.pointers import resolve

SchemaPath: TypeAlias = tuple[str | int, ...]
Found: TypeAlias = Iterator[tuple[SchemaPath, str, str]]
"""What a rule finds: the path below the schema, a sentence and a hint."""
Rule: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], Found]
"""Takes a schema and the whole schema that it is a part of."""

_BESIDE_REF = frozenset({"$ref", "definitions", "title", "description", "$comment"})


def type_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def _format(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    name = schema.get("format")
    if name is None:
        return
    known = FORMATS.get(name)
    if known is None:
        yield ("format",), f"no format is called '{name}'", did_you_mean(name, sorted(FORMATS))
    elif set(type_names(schema)) - {"null"} != {known.type}:
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
    if sound and schema.get("places", PLACES) > schema.get("digits", DIGITS):
        yield ("places",) if "places" in schema else ("digits",), "more places than digits", ""


def _pattern(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    patterns: list[tuple[SchemaPath, str]] = [(("pattern",), schema["pattern"])] if "pattern" in schema else []
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
    for key in sorted(schema.keys() - _BESIDE_REF):
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
    if schema.get("enum") == []:
        yield ("enum",), "an empty enum: nothing fits", ""


def _idle(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Found:
    kinds = type_names(schema)
    for key in schema:
        goes_with = KINDS_OF.get(key)
        if kinds and goes_with and not goes_with & set(kinds):
            yield (
                (key,),
                f"{key} says nothing about {' or '.join(kinds)}",
                f"it goes with {' or '.join(sorted(goes_with))}",
            )


RULES: tuple[Rule, ...] = (_format, _decimal, _pattern, _reference, _required, _bounds, _idle)
