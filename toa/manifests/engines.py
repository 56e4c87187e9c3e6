"""A manifest's JSON Schema as the two validators take it: the compiled one says yes or no, the other writes reports.

What is ours alone is put in draft-07's own words first, so that both are asked the same question: `format: decimal`
becomes bounds in `Decimal`, `format: epoch-millis` bounds in milliseconds. Patterns, multiples and the formats of
text are answered by the same functions on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import jsonschema_rs
from jsonschema import Draft7Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from toa.core.clock import GREATEST, LEAST
from toa.manifests.decimals import DIGITS, PLACES, DecimalRule, UnfitDecimal
from toa.manifests.formats import TEXT_FORMATS
from toa.manifests.keywords import LISTS_OF_SCHEMAS, MAPPINGS_OF_SCHEMAS, SCHEMAS
from toa.manifests.patterns import matcher
from toa.manifests.pointers import canonical

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OURS = ("digits", "places", "default")


def prepare(schema: Any) -> Any:
    """The schema in draft-07's own words, as a new structure."""
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return {"$ref": canonical(schema["$ref"]), **_parts(schema, only=("definitions",))}
    result = {key: value for key, value in schema.items() if key not in _OURS} | _parts(schema)
    if not isinstance(schema.get("items"), list):
        result.pop("additionalItems", None)  # it has no meaning then, and one validator stumbles over it
    match schema.get("format"):
        case "decimal":
            del result["format"]
            _decimal(schema, result)
        case "epoch-millis":
            del result["format"]
            result["minimum"] = max(result.get("minimum", LEAST), LEAST)
            result["maximum"] = min(result.get("maximum", GREATEST), GREATEST)
    return result


def _parts(schema: Mapping[str, Any], only: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if only and key not in only:
            continue
        if key in SCHEMAS:
            found[key] = _either(value)
        elif key in MAPPINGS_OF_SCHEMAS or key == "dependencies":
            found[key] = {name: _either(part) for name, part in value.items()}
        elif key in LISTS_OF_SCHEMAS:
            found[key] = [prepare(part) for part in value]
    return found


def _either(value: Any) -> Any:
    """`items` may be a list of schemas, and `dependencies` hold schemas or lists of names, which stay."""
    return [prepare(part) for part in value] if isinstance(value, list) else prepare(value)


def _decimal(schema: Mapping[str, Any], result: dict[str, Any]) -> None:
    rule = DecimalRule(schema.get("digits", DIGITS), schema.get("places", PLACES))

    def exact(value: Any) -> Any:
        if isinstance(value, str):
            try:
                return rule.read(value)
            except UnfitDecimal:
                return value
        # repr gives the digits that were written; 0.1 is not its binary neighbour here.
        return Decimal(repr(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    for key in _BOUNDS:
        if key in result:
            result[key] = exact(result[key])
    if "const" in result:
        result["const"] = exact(result["const"])
    if "enum" in result:
        result["enum"] = [exact(value) for value in result["enum"]]


def fast(prepared: Any) -> Callable[[Any], bool]:
    """The compiled validator's yes or no. Raises ValueError for a schema that it does not take."""
    try:
        validator = jsonschema_rs.Draft7Validator(
            prepared, formats=dict(TEXT_FORMATS), validate_formats=True, ignore_unknown_formats=False, offline=True
        )
    except jsonschema_rs.ValidationError as error:
        raise ValueError(error.message) from None
    return validator.is_valid


def thorough(prepared: Any) -> Any:
    """The validator that writes reports: an instance with `iter_errors`."""
    return _REPORT(prepared, format_checker=_FORMAT_CHECKER)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matcher(pattern)(instance):
        yield ValidationError(f"does not match the pattern {pattern}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, part in patterns.items():
            matches = matcher(pattern)
            for key, value in instance.items():
                if matches(key):
                    yield from validator.descend(value, part, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, additional: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    patterns = [matcher(pattern) for pattern in schema.get("patternProperties", {})]
    extra = [key for key in instance if key not in known and not any(matches(key) for matches in patterns)]
    for key in extra:
        if additional is False:
            yield ValidationError("is not known here", path=[key], instance=instance[key])
        else:
            yield from validator.descend(instance[key], additional, path=key)


def _multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number") and _exact(instance) % _exact(step):
        yield ValidationError(f"is not a multiple of {step}")


def _unique_items(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """In one walk. Objects cannot be sorted, and holding each against every other one takes minutes for a long list."""
    if not unique or not isinstance(instance, list):
        return
    seen: set[Any] = set()
    for item in instance:
        mark = _mark(item)
        if mark in seen:
            yield ValidationError("holds an item twice")
            return
        seen.add(mark)


def _mark(value: Any) -> Any:
    """What is equal for values that are equal in JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool | str) or value is None:
        return type(value), value
    if isinstance(value, dict):
        return dict, frozenset((key, _mark(part)) for key, part in value.items())
    if isinstance(value, list):
        return list, tuple(map(_mark, value))
    return _exact(value)


def _exact(number: Any) -> Fraction:
    """The number as its shortest decimal digits say, which is how the compiled validator counts."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _is_number(checker: Any, instance: Any) -> bool:
    return isinstance(instance, (int, float, Decimal)) and not isinstance(instance, bool)


def _is_integer(checker: Any, instance: Any) -> bool:
    if isinstance(instance, bool):
        return False
    if isinstance(instance, (float, Decimal)):
        return instance == instance.__trunc__()
    return isinstance(instance, int)


def _format_checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, fits in TEXT_FORMATS.items():
        checker.checks(name)(partial(_fits_text, fits))
    return checker


def _fits_text(fits: Callable[[str], bool], value: object) -> bool:
    return not isinstance(value, str) or fits(value)


_FORMAT_CHECKER = _format_checker()
_REPORT: Any = extend(  # type: ignore[no-untyped-call]
    Draft7Validator,
    validators={
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "multipleOf": _multiple_of,
        "uniqueItems": _unique_items,
    },
    type_checker=Draft7Validator.TYPE_CHECKER.redefine_many({"number": _is_number, "integer": _is_integer}),
)
