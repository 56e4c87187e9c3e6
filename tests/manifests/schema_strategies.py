"""Random JSON Schemas as a manifest may hold them, and values that are likely to come near them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

TEXTS = st.sampled_from(
    [
        "",
        "a",
        "ab",
        "abc",
        "é",
        "🙂",
        "x_1",
        "A",
        "12",
        "1.50",
        "a\n",
        "٣",
        "\u2028",
        "true",
        "2026-03-01",
        "2026-02-30",
        "2026-03-01T09:00:00Z",
        "2026-03-01T09:00:00",
        "1h",
        "1h1h",
        "ada@example.org",
        "ada@",
        "0" * 32,
        "{" + "0" * 32,
    ]
)
INTEGERS = st.one_of(st.integers(-3, 12), st.sampled_from([2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 10**12]))
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1.5, 2.5, -1.0, 1e3, 1e20, 1e300, 5e-324, 9007199254740993.0]),
    st.floats(-10, 10, allow_nan=False).map(lambda number: round(number, 2)),
)
DECIMALS = st.sampled_from(["0.00", "0.10", "1.00", "1.50", "12.34", "-3.00", "999999999999999999.99"]).map(Decimal)
SCALARS = st.one_of(st.none(), st.booleans(), INTEGERS, FLOATS, TEXTS)
KEYS = st.sampled_from(["a", "b", "c", "x_1", "é", ""])

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(SCALARS, SCALARS, DECIMALS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)
"""Normalised values: Decimals stand among them as they do in drafts."""

PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=4,
)
PATTERNS = st.sampled_from(["^a", "b$", r"^\d+$", r"\w", r"^[a-z_]+[0-9]?$", r"\s", "^.$", "", r"^(?:a|ab)$"])
COUNTS = st.integers(0, 4)
STEPS = st.sampled_from([1, 2, 3, 0.1, 0.5, 0.01, 1.5, 0.3])
FORMATS = st.sampled_from(["date", "date-time", "duration", "email", "uuid"])
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])


def _keywords(**choices: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=choices)


def _texts() -> st.SearchStrategy[dict[str, Any]]:
    held = _keywords(minLength=COUNTS, maxLength=COUNTS, pattern=PATTERNS, format=FORMATS)
    return held.map(lambda keywords: {"type": "string", **keywords})


def _numbers() -> st.SearchStrategy[dict[str, Any]]:
    bound = st.one_of(st.integers(-5, 10), st.sampled_from([0.1, 0.3, 1.5, 2**53, 1e20]))
    held = _keywords(minimum=bound, maximum=bound, exclusiveMinimum=bound, exclusiveMaximum=bound, multipleOf=STEPS)
    kind = st.sampled_from(["integer", "number"])
    return st.builds(lambda name, keywords: {"type": name, **keywords}, kind, held)


def _decimals() -> st.SearchStrategy[dict[str, Any]]:
    bound = st.sampled_from([0, 1, 0.1, 1.5, 12.34])
    held = _keywords(minimum=bound, exclusiveMaximum=bound, multipleOf=st.sampled_from([0.01, 0.05, 1]))
    return held.map(lambda keywords: {"type": "number", "format": "decimal", **keywords})


def _leaves() -> st.SearchStrategy[dict[str, Any]]:
    moments = st.just({"type": "integer", "format": "epoch-millis"})
    listed = st.lists(SCALARS, min_size=1, max_size=4).map(lambda values: {"enum": values})
    fixed = PLAIN.map(lambda value: {"const": value})
    kinds = st.lists(TYPES, min_size=1, max_size=3, unique=True).map(lambda names: {"type": names})
    return st.one_of(_texts(), _numbers(), _decimals(), moments, listed, fixed, kinds)


def _branches(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    some = st.lists(inner, min_size=1, max_size=3)
    objects = _keywords(
        properties=st.dictionaries(KEYS, inner, max_size=3),
        required=st.lists(KEYS, max_size=2, unique=True),
        additionalProperties=st.one_of(st.booleans(), inner),
        patternProperties=st.dictionaries(PATTERNS, inner, max_size=2),
        propertyNames=inner,
        minProperties=COUNTS,
        maxProperties=COUNTS,
        dependencies=st.dictionaries(KEYS, st.one_of(inner, st.lists(KEYS, max_size=2, unique=True)), max_size=2),
    )
    lists = _keywords(
        items=st.one_of(inner, some),
        additionalItems=st.one_of(st.booleans(), inner),
        contains=inner,
        minItems=COUNTS,
        maxItems=COUNTS,
        uniqueItems=st.booleans(),
    )
    choices = _keywords(allOf=some, anyOf=some, oneOf=some, **{"not": inner, "if": inner, "then": inner, "else": inner})
    return st.one_of(objects, lists, choices)


SCHEMAS: st.SearchStrategy[Any] = st.recursive(st.one_of(_leaves(), st.booleans()), _branches, max_leaves=6)
