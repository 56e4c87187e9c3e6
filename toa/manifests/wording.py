"""What a refusal says: one plain sentence for each keyword of JSON Schema."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

from jsonschema.exceptions import ValidationError

from toa.core.nearest import did_you_mean
from toa.manifests.decimals import plain
from toa.manifests.formats import FORMATS

_SHOWN = 60
_KINDS = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def sentence(error: ValidationError) -> str:
    """The sentence for one error of the report, without its place."""
    value, given, keyword = cast(tuple[Any, Any, Any], (error.instance, error.validator_value, error.validator))
    match keyword:
        case "required":
            # The name stands in the message alone; a library's sentence is kept where the form is another.
            return error.message.replace(" is a required property", " is required")
        case "type":
            kinds = [given] if isinstance(given, str) else given
            return f"must be {_one_of([_KINDS.get(kind, kind) for kind in kinds])}, not {shown(value)}"
        case "enum":
            return f"{shown(value)} is none of {', '.join(shown(one) for one in given)}"
        case "const":
            return f"must be {shown(given)}, not {shown(value)}"
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            return f"{shown(value)} is {_beyond(keyword)} {shown(given)}"
        case "minLength" | "maxLength":
            return f"has {len(value)} characters, {_limit(keyword)} {given}"
        case "minItems" | "maxItems":
            return f"has {len(value)} items, {_limit(keyword)} {given}"
        case "format":
            example = FORMATS[given].example
            return f"{shown(value)} is no {given}, such as {example}"
        case "multipleOf" | "pattern":
            return f"{shown(value)} {error.message}"
        case "additionalProperties" if error.path:
            name = str(error.path[-1])
            known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
            hint = did_you_mean(name, known)
            return f"'{name}' is not known here" + (f"; {hint}" if hint else "")
        case "uniqueItems":
            return "holds an item twice"
        case "anyOf" | "oneOf" | "not" | None:
            return f"{shown(value)} is not allowed here"
        case _:
            return error.message if len(error.message) <= 4 * _SHOWN else f"does not hold to {keyword}"


def shown(value: Any) -> str:
    """A value as a refusal shows it: short, and as JSON has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return plain(value) if value.is_finite() else str(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...{text[0]}"


def _one_of(kinds: list[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}"


def _beyond(keyword: str) -> str:
    return {
        "minimum": "less than",
        "exclusiveMinimum": "not more than",
        "maximum": "more than",
        "exclusiveMaximum": "not less than",
    }[keyword]


def _limit(keyword: str) -> str:
    return "fewer than" if keyword.startswith("min") else "more than"
