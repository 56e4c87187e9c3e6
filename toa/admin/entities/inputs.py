"""A form field for each property of an operation's input, made from its JSON Schema.

A field reads text into the JSON value that the schema is about, and nothing more: whether the value fits is decided
by the operation's own check, which is the same for every way of calling it. Empty means left out: `None`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from toa.core.clock import to_datetime, to_moment
from toa.core.specs import Schema

LONG_TEXT = 255
"""Text that may be longer gets a field of several lines."""
LONGEST_DOCUMENT = 1_048_576
"""Characters of a JSON field at most."""


class MomentField(forms.DateTimeField):
    """A moment: shown and typed in the zone of the site, whole epoch ms as a value."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "0.001"})

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, int):
            return timezone.localtime(to_datetime(value)).replace(tzinfo=None).isoformat(timespec="milliseconds")
        return value

    def clean(self, value: Any) -> Any:
        moment = super().clean(value)
        return None if moment is None else to_moment(moment)


class IsoDateTimeField(forms.DateTimeField):
    """`format: date-time`: the same as text with an offset."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "0.001"})

    def clean(self, value: Any) -> Any:
        moment = super().clean(value)
        return None if moment is None else moment.isoformat()


class IsoDateField(forms.DateField):
    """`format: date`: a day as text."""

    widget = forms.DateInput(attrs={"type": "date"})

    def clean(self, value: Any) -> Any:
        day = super().clean(value)
        return None if day is None else day.isoformat()


class OneOfField(forms.TypedChoiceField):
    """One of some JSON values."""

    def __init__(self, values: Mapping[str, Any], **kwargs: Any) -> None:
        self._keys = {json.dumps(value): label for label, value in values.items()}
        choices = [("", "---------"), *self._keys.items()]
        super().__init__(choices=choices, coerce=json.loads, empty_value=None, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        # What was typed comes back as text of JSON already; an initial value does not.
        typed = value in (None, "") or (isinstance(value, str) and value in self._keys)
        return value if typed else json.dumps(value)


class DocumentField(forms.CharField):
    """Any JSON value, as text."""

    widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "toa-json"})

    def prepare_value(self, value: Any) -> Any:
        return value if value is None or isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
        except json.JSONDecodeError as error:
            raise ValidationError(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
        except RecursionError:
            raise ValidationError("This is nested too deeply.") from None
        except ValueError as error:
            # A constant that is no JSON, or an integer with more digits than Python converts.
            raise ValidationError(f"This is no JSON: {str(error).partition(';')[0]}.") from None


def field_of(name: str, schema: Schema, *, required: bool) -> forms.Field:
    """The field of one property."""
    given: dict[str, Any] = {
        "label": name,
        "help_text": str(schema.get("description", "")),
        "initial": schema.get("default"),
        "required": required and "default" not in schema,
    }
    if "enum" in schema:
        values = [value for value in schema["enum"] if value is not None]
        return OneOfField({v if isinstance(v, str) else json.dumps(v): v for v in values}, **given)
    return _of_type(only_type(schema), str(schema.get("format", "")), schema, given)


def only_type(schema: Schema) -> str:
    """The one type that a value has beside null; empty where there are several, or none is said."""
    kinds = schema.get("type", "")
    found = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
    return str(found[0]) if len(found) == 1 else ""


def accepts_null(schema: Schema) -> bool:
    """Whether null is a value of its own."""
    kinds = schema.get("type", ())
    return None in schema.get("enum", ()) or "null" in ([kinds] if isinstance(kinds, str) else kinds)


def _of_type(kind: str, form: str, schema: Schema, given: dict[str, Any]) -> forms.Field:
    match kind, form:
        case "boolean", _:
            return OneOfField({"yes": True, "no": False}, **given)
        case "integer", "epoch-millis":
            given["help_text"] = _beside(given["help_text"], f"In {timezone.get_current_timezone_name()}.")
            return MomentField(**given)
        case "integer", _:
            # Its range is left to the check: what a browser is told by `min` it may say in another way than we do.
            return forms.IntegerField(**given)
        case "number", "decimal":
            return forms.CharField(
                widget=forms.TextInput(attrs={"inputmode": "decimal"}), empty_value=None, max_length=64, **given
            )
        case "number", _:
            return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **given)
        case "string", "date":
            return IsoDateField(**given)
        case "string", "date-time":
            given["help_text"] = _beside(given["help_text"], f"In {timezone.get_current_timezone_name()}.")
            return IsoDateTimeField(**given)
        case "string", _:
            return _text(form, schema, given)
    given["help_text"] = _beside(given["help_text"], "JSON.")
    return DocumentField(max_length=LONGEST_DOCUMENT, **given)


def _text(form: str, schema: Schema, given: dict[str, Any]) -> forms.Field:
    most = schema.get("maxLength")
    if form == "duration":
        given["help_text"] = _beside(given["help_text"], "Such as 90s, 1h30m or 2d.")
    widget: forms.Widget = forms.TextInput(attrs={"size": 40})
    if isinstance(most, int) and most > LONG_TEXT:
        widget = forms.Textarea(attrs={"rows": 4})
    return forms.CharField(widget=widget, max_length=most, empty_value=None, **given)


def _beside(text: str, more: str) -> str:
    return f"{text} {more}".strip()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")
