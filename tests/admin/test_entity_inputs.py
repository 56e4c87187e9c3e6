"""From text that a person typed to the JSON value that an operation's schema is about."""

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from toa.admin.entities.inputs import field_of

MOMENT = {"type": "integer", "format": "epoch-millis"}


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, " a b ", "a b"),
        ({"type": "string", "maxLength": 4000}, "long", "long"),
        ({"type": "integer"}, "-12", -12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number", "format": "decimal"}, "12.30", "12.30"),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "false", False),
        ({"enum": ["a", "b"]}, '"b"', "b"),
        ({"enum": [1, 2]}, "2", 2),
        ({"type": ["string", "null"], "enum": ["a", None]}, '"a"', "a"),
        (MOMENT, "2026-12-01T10:00:00.250", 1_796_119_200_250),
        ({"type": "string", "format": "date"}, "2026-12-01", "2026-12-01"),
        ({"type": "string", "format": "date-time"}, "2026-12-01T10:00", "2026-12-01T10:00:00+00:00"),
        ({"type": "string", "format": "uuid"}, "0193f0a07c5b7c3e9d8f000000000001", "0193f0a07c5b7c3e9d8f000000000001"),
        ({"type": "object"}, '{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        ({"type": ["integer", "string"]}, '"1h"', "1h"),
        ({"oneOf": [{"type": "integer"}]}, "7", 7),
    ],
)
def test_what_was_typed_is_read(schema, typed, value):
    field = field_of("x", schema, required=True)
    assert field.clean(typed) == value
    assert type(field.clean(typed)) is type(value)
    assert field.clean(field.prepare_value(typed)) == value  # what is shown again reads the same


@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, MOMENT, {"type": "array"}]
)
def test_empty_is_left_out_or_asked_for(schema):
    assert field_of("x", schema, required=False).clean("") is None
    with pytest.raises(ValidationError, match="required"):
        field_of("x", schema, required=True).clean("")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ('{"a": 1,\n  b: 2}', "Line 2, column 3: Expecting property name enclosed in double quotes."),
        ('{"a": NaN}', "This is no JSON: NaN is no number."),
        ('{"a": 1, "a": 2}', "This is no JSON: a name stands twice in one object."),
        ("[" * 100_000, "This is nested too deeply."),
    ],
)
def test_json_that_cannot_be_read_says_where(typed, message):
    with pytest.raises(ValidationError) as refused:
        field_of("x", {"type": "object"}, required=True).clean(typed)
    assert refused.value.messages == [message]


@pytest.mark.parametrize("schema", [{"type": "integer"}, {"type": "number"}, MOMENT, {"enum": ["a"]}])
def test_nonsense_is_refused_where_it_cannot_be_read(schema):
    with pytest.raises(ValidationError):
        field_of("x", schema, required=True).clean("nonsense")


def test_a_moment_is_typed_in_the_zone_of_the_site():
    with timezone.override("Asia/Tokyo"):
        field = field_of("x", MOMENT, required=True)
        assert field.clean("2026-12-01T19:00") == 1_796_119_200_000
        assert field.prepare_value(1_796_119_200_000) == "2026-12-01T19:00:00.000"
        assert "Asia/Tokyo" in field.help_text


def test_a_default_is_shown_and_need_not_be_typed():
    field = field_of("x", {"type": "integer", "default": 3, "description": "How many."}, required=True)
    assert (field.initial, field.required, field.help_text) == (3, False, "How many.")
