"""Values through a checker: what is filled in, converted, refused, and left as it is."""

from __future__ import annotations

import enum
import time
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.manifests.schema_strategies import VALUES
from toa.core.clock import GREATEST, LEAST
from toa.exceptions import InvalidInput
from toa.manifests.content import MAX_DEPTH, MAX_ITEMS
from toa.manifests.schemas import compile_schema, to_json

ORDER = {
    "type": "object",
    "required": ["reference", "quantity", "total"],
    "properties": {
        "reference": {"type": "string", "maxLength": 8},
        "quantity": {"type": "integer", "minimum": 1},
        "total": {"type": "number", "format": "decimal", "minimum": 0},
    },
    "additionalProperties": False,
}
DECIMAL = {"type": "number", "format": "decimal"}
NARROW = {**DECIMAL, "digits": 5, "places": 1}


class Colour(enum.StrEnum):
    RED = "red"


def refused(schema: Any, value: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        compile_schema(schema).check(value)
    return list(caught.value.problems)


def test_without_a_schema_only_null_is_accepted() -> None:
    assert compile_schema(None).check(None) is None
    assert refused(None, {}) == [("", "must be null, not an object")]


def test_an_ordinary_value_comes_back_as_the_very_same_object() -> None:
    value = {"reference": "A-1", "quantity": 2, "total": Decimal("10.00")}
    checker = compile_schema(ORDER)
    assert checker.check(value) is value
    assert checker.normalise(value) is value


def test_a_changed_value_is_a_copy_and_the_given_one_stays() -> None:
    given_value = {"reference": "A-1", "quantity": 2.0, "total": "10"}
    checked = compile_schema(ORDER).check(given_value)
    assert checked == {"reference": "A-1", "quantity": 2, "total": Decimal("10.00")}
    assert type(checked["quantity"]) is int
    assert given_value == {"reference": "A-1", "quantity": 2.0, "total": "10"}


def test_all_problems_are_told_at_once_those_of_reading_and_those_of_the_schema() -> None:
    assert refused(ORDER, {"reference": "far too long", "quantity": 0, "total": 1.5, "totl": 1, "note": "\0"}) == [
        ("/total", 'an amount is text in plain digits, such as "12.50", not a JSON number (1.5)'),
        ("/note", "text cannot hold a NUL character"),
        ("/quantity", "0 is less than 1"),
        ("/reference", "has 12 characters, more than 8"),
        ("/totl", "'totl' is not known here; did you mean 'total'?"),
    ]


def test_a_long_list_of_objects_is_reported_at_once() -> None:
    schema = {"properties": {"lines": {"type": "array", "uniqueItems": True}, "note": {"type": "string"}}}
    lines = [{"line": number} for number in range(20_000)]
    began = time.process_time()

    assert refused(schema, {"lines": lines, "note": 1}) == [("/note", "must be text, not 1")]
    assert refused(schema, {"lines": [*lines, lines[-1]]}) == [("/lines", "holds an item twice")]

    # Held against one another, the objects take minutes.
    assert time.process_time() - began < 10


def test_the_message_names_the_first_problem_and_how_many_more() -> None:
    with pytest.raises(InvalidInput, match=r"^the row does not fit: 'quantity' is required \(and 1 more\)$"):
        compile_schema(ORDER).check({"reference": "A"}, "the row")


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (DECIMAL, "12.5", "12.50"),
        (DECIMAL, "0", "0.00"),
        (DECIMAL, "-0.00", "0.00"),
        (DECIMAL, "-1.25", "-1.25"),
        (DECIMAL, Decimal("1E+2"), "100.00"),
        (DECIMAL, Decimal("2.5000"), "2.50"),
        (DECIMAL, "9" * 18 + ".99", "9" * 18 + ".99"),
        (NARROW, "9999.9", "9999.9"),
        ({**DECIMAL, "digits": 40, "places": 20}, "1." + "0" * 19 + "1", "1." + "0" * 19 + "1"),
        ({**DECIMAL, "digits": 3, "places": 0}, "999", "999"),
        ({"anyOf": [{"type": "null"}, DECIMAL]}, "1", "1.00"),
        ({"type": ["number", "null"], "format": "decimal"}, "1", "1.00"),
    ],
)
def test_M19_a_decimal_is_read_from_plain_digits_and_keeps_its_places(schema: Any, value: Any, expected: str) -> None:
    checked = compile_schema(schema).check(value)
    assert isinstance(checked, Decimal)
    assert str(checked) == expected
    assert to_json(checked) == expected


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (DECIMAL, 1, "not a JSON number (1)"),
        (DECIMAL, 0.1, "not a JSON number (0.1)"),
        (DECIMAL, "1.234", "'1.234' has more than 2 places"),
        (DECIMAL, "1.000", "'1.000' has more than 2 places"),
        (DECIMAL, Decimal("1.001"), "1.001 has more than 2 places"),
        (DECIMAL, "1e2", "is no decimal in plain digits"),
        (DECIMAL, "+1", "is no decimal in plain digits"),
        (DECIMAL, "01", "is no decimal in plain digits"),
        (DECIMAL, " 1", "is no decimal in plain digits"),
        (DECIMAL, "1_0", "is no decimal in plain digits"),
        (DECIMAL, "١", "is no decimal in plain digits"),
        (DECIMAL, "", "is no decimal in plain digits"),
        (DECIMAL, "NaN", "is no decimal in plain digits"),
        (DECIMAL, Decimal("NaN"), "NaN is no amount"),
        (DECIMAL, Decimal("-Infinity"), "-Infinity is no amount"),
        (DECIMAL, "1" + "0" * 18, "more than 18 digits before the point"),
        (DECIMAL, Decimal("1E+400"), "more than 18 digits before the point"),
        (DECIMAL, "1" * 1000, "an amount of 1000 characters is too long"),
        (NARROW, "10000.0", "more than 4 digits before the point"),
        ({**DECIMAL, "minimum": 0.1}, "0.09", "0.09 is less than 0.1"),
        ({**DECIMAL, "exclusiveMaximum": 0.3}, "0.30", "0.30 is not less than 0.3"),
        ({**DECIMAL, "enum": ["1.00", "2.00"]}, "3.00", "3.00 is none of 1.00, 2.00"),
        (DECIMAL, None, "must be a number, not null"),
        (DECIMAL, True, "must be a number, not true"),
        (DECIMAL, [], "must be a number, not a list"),
    ],
)
def test_a_decimal_is_refused_and_never_rounded(schema: Any, value: Any, message: str) -> None:
    ((pointer, said),) = refused(schema, value)
    assert pointer == ""
    assert message in said


def test_M19_a_hundred_times_ten_cents_are_ten() -> None:
    checker = compile_schema(DECIMAL)
    total = sum((checker.check("0.10") for _ in range(100)), Decimal(0))
    assert to_json(checker.check(total)) == "10.00"


@pytest.mark.parametrize(
    "value", [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), 10**5000], ids=["nan", "snan", "infinity", "long"]
)
@pytest.mark.parametrize(
    "schema",
    [
        DECIMAL,
        {"oneOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "string"}]},
        {"anyOf": [{"type": "number", "multipleOf": 0.5}, DECIMAL]},
        {"allOf": [{}, {"type": ["number", "null"]}]},
    ],
)
def test_a_number_that_no_column_and_no_json_holds_is_refused_in_a_sentence(schema: Any, value: Any) -> None:
    for given_value in (value, [value], {"a": {"b": value}}):
        assert all(len(message) < 200 for _, message in refused(schema, given_value))


def test_a_decimal_fits_only_where_the_schema_says_so() -> None:
    for schema in ({"type": "number"}, {"type": "integer"}, {}, {"type": "object"}):
        value = {"a": Decimal("1")} if schema.get("type") == "object" else Decimal("1")
        ((_, said),) = refused(schema, value)
        assert said == "a Decimal fits only where the schema says `format: decimal`"


@pytest.mark.parametrize("spelling", ["{}", "URN:UUID:{}", "{{{}}}"])
def test_a_uuid_in_any_usual_spelling_becomes_32_hex_digits(spelling: str) -> None:
    plain = "0190b1f0c6d87d0e8b1a5d0c3a0f9e11"
    for text in (plain, plain.upper(), str(UUID(plain)), str(UUID(plain)).upper()):
        assert compile_schema({"type": "string", "format": "uuid"}).check(spelling.format(text)) == plain
    assert compile_schema({"type": "string", "format": "uuid"}).check(UUID(plain)) == plain


@pytest.mark.parametrize(
    ("name", "sound", "broken"),
    [
        ("date", ["2024-02-29", "0001-01-01", "9999-12-31"], ["2026-02-29", "20260301", "2026-W01-1", "2026-3-1", ""]),
        (
            "date-time",
            ["2026-03-01T09:00:00Z", "2026-03-01t09:00:00.123456789+05:30", "2026-03-01T23:59:59-00:00"],
            [
                "2026-03-01T09:00:00",
                "2026-03-01 09:00:00Z",
                "2026-03-01T24:00:00Z",
                "2026-03-01T09:00Z",
                "0001-01-01T00:00:00+05:00",
                "9999-12-31T23:59:59-01:00",
                "2026-03-01T09:00:60Z",
            ],
        ),
        ("duration", ["72h", "1d12h", "0ms", "250ms"], ["P1D", "1.5h", "-1h", "h", "1h1h", "1 h", "200000d"]),
        (
            "email",
            ["ada@example.org", "a.b+c@sub.example.co"],
            [
                "ada",
                "ada@",
                "@example.org",
                "a b@example.org",
                "ada@example",
                "ada@-x.org",
                "a..b@example.org",
                "a" * 65 + "@example.org",
                "ada@" + "a" * 300 + ".org",
                "ada@example.org\n",
            ],
        ),
        ("uuid", ["0" * 32], ["0" * 31, "0" * 33, "g" * 32, "{" + "0" * 32, "0-" * 16 + "0" * 16]),
    ],
)
def test_formats_of_text_are_enforced(name: str, sound: list[str], broken: list[str]) -> None:
    checker = compile_schema({"type": "string", "format": name})
    assert [text for text in sound if checker.check(text) is None] == []
    for text in broken:
        ((_, said),) = refused(checker.schema, text)
        assert f"is no {name}, such as " in said


def test_a_moment_lies_within_the_years_1_to_9999() -> None:
    moment = {"type": "integer", "format": "epoch-millis"}
    checker = compile_schema(moment)
    assert [checker.is_valid(value) for value in (LEAST - 1, LEAST, 0, GREATEST, GREATEST + 1)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert compile_schema({**moment, "minimum": 0}).is_valid(-1) is False
    assert refused(moment, "2026-03-01") == [("", "must be an integer, not '2026-03-01'")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a\0b", "text cannot hold a NUL character"),
        ("\ud800", "text cannot hold a lone surrogate"),
        (float("nan"), "nan is not a JSON number"),
        (float("-inf"), "-inf is not a JSON number"),
        (2**63, "an integer must fit 64 bits"),
        (-(2**63) - 1, "an integer must fit 64 bits"),
        ({1, 2}, "a set is no JSON value"),
        (b"bytes", "a bytes is no JSON value"),
        (object(), "a object is no JSON value"),
    ],
)
@pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"type": "integer"}, {"type": "string", "format": "uuid"}])
def test_what_no_value_may_hold_is_refused_under_any_schema(schema: Any, value: Any, message: str) -> None:
    assert refused(schema, value)[0] == ("", message)
    assert refused({"type": "object", "properties": {"a": schema}}, {"a": value})[0] == ("/a", message)
    assert refused({"type": "array", "items": schema}, [value])[0] == ("/0", message)
    assert refused({}, {"deep": [{"er": value}]})[0] == ("/deep/0/er", message)


def test_keys_are_text_that_can_be_carried() -> None:
    assert refused({}, {1: 2}) == [("/1", "a key must be text, not int")]
    assert refused({}, {"a\0": 2}) == [("/a\0", "text cannot hold a NUL character")]


def test_a_float_without_fraction_is_an_integer_unless_it_is_too_large() -> None:
    checker = compile_schema({"type": "integer"})
    assert type(checker.check(3.0)) is int
    assert refused({"type": "integer"}, 1e30) == [("", "an integer must fit 64 bits")]
    assert refused({"type": "integer"}, 1.5) == [("", "must be an integer, not 1.5")]
    assert type(compile_schema({"type": "number"}).check(3.0)) is float


def test_depth_and_size_are_bounded() -> None:
    deep: Any = []
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    ((pointer, said),) = refused({}, deep)
    assert said == f"nested deeper than {MAX_DEPTH} levels"
    assert pointer == "/0" * (MAX_DEPTH + 1)
    assert refused({}, [0] * (MAX_ITEMS + 1)) == [("", f"{MAX_ITEMS + 1} items are more than {MAX_ITEMS}")]
    assert refused({}, "x" * 10_000_001) == [("", "text of 10000001 characters is too long")]


def test_a_schema_that_contains_itself_follows_the_value_and_no_further() -> None:
    tree = {
        "definitions": {
            "node": {
                "type": "object",
                "properties": {
                    "total": DECIMAL,
                    "parts": {"type": "array", "items": {"$ref": "#/definitions/node"}, "default": []},
                },
            }
        },
        "$ref": "#/definitions/node",
    }
    value = {"total": "1", "parts": [{"total": "2"}]}
    assert compile_schema(tree).check(value) == {
        "total": Decimal("1.00"),
        "parts": [{"total": Decimal("2.00"), "parts": []}],
    }


def test_defaults_are_filled_in_at_every_depth_each_time_afresh() -> None:
    schema = {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "default": "sweep"},
            "limit": {**DECIMAL, "default": "10"},
            "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
            "retry": {"type": "object", "properties": {"times": {"type": "integer", "default": 3}}, "default": {}},
        },
    }
    checker = compile_schema(schema)
    first, second = checker.check({}), checker.check({"retry": {}, "mode": "alarm"})
    assert first == {"mode": "sweep", "limit": Decimal("10.00"), "tags": ["a"], "retry": {"times": 3}}
    assert second["retry"] == {"times": 3}
    assert second["mode"] == "alarm"
    first["tags"].append("b")
    assert checker.check({})["tags"] == ["a"]


def test_items_by_position_patterns_and_further_properties_are_converted() -> None:
    pairs = {"type": "array", "items": [{"type": "string"}, DECIMAL], "additionalItems": DECIMAL}
    assert compile_schema(pairs).check(["a", "1", "2"]) == ["a", Decimal("1.00"), Decimal("2.00")]
    prices = {
        "type": "object",
        "properties": {"x_name": {"type": "string"}},
        "patternProperties": {"^x_p": DECIMAL},
        "additionalProperties": {"type": "integer"},
    }
    assert compile_schema(prices).check({"x_name": "n", "x_price": "1", "other": 2.0}) == {
        "x_name": "n",
        "x_price": Decimal("1.00"),
        "other": 2,
    }
    both = {"allOf": [{"properties": {"a": DECIMAL}}, {"properties": {"b": {"type": "integer", "default": 1}}}]}
    assert compile_schema(both).check({"a": "1"}) == {"a": Decimal("1.00"), "b": 1}


def test_values_of_python_become_JSON() -> None:
    checker = compile_schema({})
    assert checker.check((1, (2,))) == [1, [2]]
    assert checker.check(MappingProxyType({"a": (1,)})) == {"a": [1]}
    colour = checker.check(Colour.RED)
    assert colour == "red"
    assert type(colour) is str


def test_is_valid_never_raises() -> None:
    checker = compile_schema({"type": "object"})
    assert not checker.is_valid({1: 2})
    for value in ("\ud800", {"\ud800": 1}, {"a": object()}, {"a": {1}}, object()):
        for schema in (
            {},
            {"type": "string"},
            {"properties": {"a": {"type": "string"}}},
            {"propertyNames": {"minLength": 1}},
        ):
            assert compile_schema(schema).is_valid(value) in (True, False)


def test_an_equal_schema_is_compiled_once() -> None:
    assert compile_schema({"type": "string"}) is compile_schema(MappingProxyType({"type": "string"}))


def test_a_report_is_bounded() -> None:
    assert len(refused({"type": "array", "items": {"type": "string"}}, [1] * 1000)) == 50


def test_long_values_are_shown_short() -> None:
    ((_, said),) = refused({"type": "integer"}, "x" * 10_000)
    assert len(said) < 100


@settings(max_examples=200, deadline=None)
@given(value=VALUES)
def test_to_json_leaves_no_decimal_and_changes_nothing_else(value: Any) -> None:
    plain = to_json(value)
    assert _as_text(value) == plain
    if _as_text(value) == value:
        assert plain is value


@settings(max_examples=200, deadline=None)
@given(number=st.decimals(-(10**17), 10**17, places=2))
def test_a_decimal_survives_JSON_exactly(number: Decimal) -> None:
    checker = compile_schema(DECIMAL)
    checked = checker.check(to_json(number))
    assert checked == number
    assert checker.check(to_json(checked)) == checked


def _as_text(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return {key: _as_text(part) for key, part in value.items()}
    return [_as_text(part) for part in value] if isinstance(value, list) else value
