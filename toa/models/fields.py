"""From a property of a manifest to a field of a Django model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models.fields import NOT_PROVIDED

from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.core.specs import PropertySpec, PropertyType


def whole_milliseconds(value: datetime) -> datetime:
    """The moment without what is finer than a millisecond."""
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def moment_now() -> datetime:
    """Now by this process, cut to milliseconds: the default of rows written without an operation."""
    return whole_milliseconds(datetime.now(UTC))


class MomentField(models.DateTimeField):  # type: ignore[type-arg]
    """A `DateTimeField` cut to whole milliseconds on write.

    Drafts and JSON hold the same moment as epoch ms; with microseconds left in the row, "moved to the same moment"
    would compare wrong.
    """

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return whole_milliseconds(prepared) if isinstance(prepared, datetime) else prepared

    def pre_save(self, instance: models.Model, add: bool) -> Any:
        value = super().pre_save(instance, add)
        if isinstance(value, datetime):
            value = whole_milliseconds(value)
            setattr(instance, self.attname, value)
        return value


COLLATION = "C"
"""Of every text: criteria and sorts order by code point, as Python does, and so an index can serve them."""


def _text(spec: PropertySpec, options: dict[str, Any]) -> models.Field[Any, Any]:
    options["db_collation"] = COLLATION
    if spec.enum is not None:
        options["choices"] = [(value, value) for value in spec.enum]
    if spec.max_length is not None:
        return models.CharField(max_length=spec.max_length, **options)
    return models.TextField(**options)


def _decimal(spec: PropertySpec, options: dict[str, Any]) -> models.Field[Any, Any]:
    return models.DecimalField(
        max_digits=spec.digits or 20, decimal_places=2 if spec.places is None else spec.places, **options
    )


def _reference(spec: PropertySpec, options: dict[str, Any]) -> models.Field[Any, Any]:
    # PROTECT: deleting a row that an entity refers to is a decision for the component that owns the entity.
    return models.ForeignKey(spec.ref or "", on_delete=models.PROTECT, related_name="+", **options)


def _plain(kind: type[models.Field[Any, Any]]) -> Callable[[PropertySpec, dict[str, Any]], models.Field[Any, Any]]:
    return lambda spec, options: kind(**options)


_MAKERS: dict[PropertyType, Callable[[PropertySpec, dict[str, Any]], models.Field[Any, Any]]] = {
    PropertyType.STRING: _text,
    PropertyType.INTEGER: _plain(models.BigIntegerField),
    PropertyType.NUMBER: _plain(models.FloatField),
    PropertyType.DECIMAL: _decimal,
    PropertyType.BOOLEAN: _plain(models.BooleanField),
    PropertyType.OBJECT: _plain(models.JSONField),
    PropertyType.ARRAY: _plain(models.JSONField),
    PropertyType.MOMENT: _plain(MomentField),
    PropertyType.UUID: _plain(models.UUIDField),
    PropertyType.DATE: _plain(models.DateField),
    PropertyType.DATETIME: _plain(models.DateTimeField),
    PropertyType.EMAIL: lambda spec, options: models.EmailField(db_collation=COLLATION, **options),
    PropertyType.REF: _reference,
}


def field_of(spec: PropertySpec, blank: Any = None) -> models.Field[Any, Any]:
    """The Django field of a declared property. What is not required is nullable.

    `blank` is the property's value in a record before anything was written, as drafts hold it: rows that are there
    when a required property is added get it, and so do rows that are made without operations.
    """
    options: dict[str, Any] = {"null": spec.nullable, "blank": spec.nullable}
    if blank is not None:
        options["default"] = _default(spec, blank)
    if spec.description:
        options["help_text"] = spec.description
    return _MAKERS[spec.type](spec, options)


def _default(spec: PropertySpec, value: Any) -> Any:
    match spec.type:
        case PropertyType.DECIMAL:
            return Decimal(value)
        case PropertyType.MOMENT:
            return to_datetime(value)
        case PropertyType.UUID:
            return UUID(value)
        case PropertyType.OBJECT | PropertyType.ARRAY:
            # A migration can name these two; what is not empty is written by operations alone.
            empty = dict if spec.type is PropertyType.OBJECT else list
            return NOT_PROVIDED if value else empty
        case _:
            return value


def key_field(spec: PropertySpec) -> models.Field[Any, Any]:
    """The primary key: a UUIDv7 made in Python, unless the manifest gives `id` a schema of its own."""
    if spec.type is PropertyType.UUID:
        return models.UUIDField(primary_key=True, default=uuid7, editable=False)
    options: dict[str, Any] = {"primary_key": True}
    if spec.type is PropertyType.STRING and spec.max_length is None:
        return models.TextField(db_collation=COLLATION, **options)
    return _MAKERS[spec.type](spec, options)


def system_field(spec: PropertySpec) -> models.Field[Any, Any]:
    """The field of a system property, by its name in criteria and drafts."""
    match spec.name:
        case "CREATED" | "UPDATED":
            return MomentField(default=moment_now, editable=False)
        case "VERSION":
            return models.BigIntegerField(default=1, editable=False)
        case "CLOCK":
            return models.JSONField(null=True, blank=True, editable=False)
        case "STATE":
            return models.CharField(max_length=16, null=True, blank=True, editable=False)
        case _:
            return MomentField(null=True, blank=True, editable=False)
