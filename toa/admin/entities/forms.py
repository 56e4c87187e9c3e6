"""The form of an operation: its input, the VERSION that was looked at, and a once key where it takes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from django import forms

from toa.admin.entities.inputs import DocumentField, accepts_null, field_of, only_type
from toa.core.error import Error
from toa.core.specs import OperationType, Schema
from toa.exceptions import CallError, InvalidInput, OutcomeUnknown, Transient
from toa.runtime.bindings import Operation
from toa.runtime.table import State

INPUT = "input"
"""Prefix of the names of the fields, and the name of the one field of an input that has no properties."""


class CallForm(forms.Form):
    """What a person fills in to call an operation."""

    operation: Operation
    state: State | None
    """The object as it is now; null for a call that makes one."""
    seen = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    """The VERSION that the person looked at."""
    once = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)

    def __init__(self, operation: Operation, state: State | None, data: Any = None) -> None:
        super().__init__(data, prefix="call", auto_id="id_%s", use_required_attribute=True)
        self.operation, self.state = operation, state
        self._properties: Mapping[str, Schema] = properties_of(operation.spec.input)
        required = (operation.spec.input or {}).get("required", ())
        for name, schema in self._properties.items():
            self.fields[_named(name)] = field_of(name, schema, required=name in required)
        if operation.spec.input is not None and not self._properties:
            self.fields[INPUT] = DocumentField(
                label="input", required="default" not in operation.spec.input, help_text="JSON."
            )
        self._take_up(operation, state)

    @property
    def shown(self) -> list[forms.BoundField]:
        """The fields that a person sees."""
        return self.visible_fields()

    def call_input(self) -> Any:
        """The input of the call: what was left empty is left out. Only of a form that is valid."""
        if self.operation.spec.input is None:
            return None
        if not self._properties:
            return self.cleaned_data.get(INPUT)
        given = {name: self.cleaned_data.get(_named(name)) for name in self._properties}
        if self.operation.spec.type is OperationType.ASSIGNMENT:
            return self._changed(given)
        return {name: value for name, value in given.items() if value is not None}

    def clean(self) -> dict[str, Any]:
        if self.operation.spec.type is OperationType.ASSIGNMENT:
            for name, schema in self._properties.items():
                emptied = self.cleaned_data.get(_named(name), "") is None and self._present(name) is not None
                if emptied and not accepts_null(schema):
                    self.add_error(_named(name), "This cannot be left empty.")
        return self.cleaned_data

    def refuse(self, error: Error | CallError | Transient | OutcomeUnknown) -> None:
        """Show why the call was refused, at the field that it is about where it says one."""
        if isinstance(error, Error):
            self._refused(error)
        elif isinstance(error, InvalidInput) and error.problems:
            for place, message in error.problems:
                self._problem(place, message)
        elif isinstance(error, Transient):
            self.add_error(None, "Something that this needs is busy or not to be had: nothing was done. Try again.")
        else:
            self.add_error(None, f"{str(error)[:1].upper()}{str(error)[1:]}.")

    def look_again(self, version: int) -> None:
        """Have the form submitted anew for the VERSION that there is by now."""
        data: Any = self.data
        self.data = again = data.copy()
        again[self.add_prefix("seen")] = str(version)

    def _take_up(self, operation: Operation, state: State | None) -> None:
        """What the hidden fields hold, and, of an assignment, what the object has now."""
        if state is None:
            del self.fields["seen"]
        else:
            self.fields["seen"].initial = state["VERSION"]
            self.fields["seen"].required = True
        if operation.spec.once_ms is None:
            del self.fields["once"]
        else:
            self.fields["once"].initial = uuid4().hex
        if operation.spec.type is OperationType.ASSIGNMENT:
            for name in self._properties:
                self.fields[_named(name)].initial = self._present(name)

    def _present(self, name: str) -> Any:
        return None if self.state is None else self.state.get(name)

    def _changed(self, given: dict[str, Any]) -> dict[str, Any]:
        """Of an assignment only what the person changed, so that it says what was meant; emptied means null."""
        required = (self.operation.spec.input or {}).get("required", ())
        return {
            name: value
            for name, value in given.items()
            if name in required or (value is not None and value != self._present(name))
            or (value is None and self._present(name) is not None)
        }  # fmt: skip

    def _refused(self, error: Error) -> None:
        details = ", ".join(f"{name}: {value}" for name, value in error.details.items())
        message = f"Refused: {error.code}{f' ({details})' if details else ''}."
        about = next((name for name in error.details if _named(name) in self.fields), None)
        self.add_error(None if about is None else _named(about), message)

    def _problem(self, place: str, message: str) -> None:
        first, _, rest = place.removeprefix("/").partition("/")
        name = _named(first.replace("~1", "/").replace("~0", "~"))
        if name in self.fields:
            self.add_error(name, f"/{rest}: {message}" if rest else message)
        else:
            about = INPUT if INPUT in self.fields else None
            self.add_error(about, f"{place}: {message}" if place else message)


def properties_of(schema: Schema | None) -> Mapping[str, Schema]:
    """The properties that each get a field of their own; none where the input is something else than an object."""
    if schema is None or only_type(schema) != "object":
        return {}
    found: Mapping[str, Schema] = schema.get("properties", {})
    return found


def _named(name: str) -> str:
    return f"{INPUT}-{name}"
