"""The model beside `tests.core.order_spec`, in a registry of its own, with its table in the test database."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any

from django.apps.registry import Apps
from django.db import connection, models

from tests.core.order_spec import ORDER
from toa.core.clock import to_moment
from toa.core.specs import PropertyType


class Order(models.Model):
    """A row with a column of every type. Instants are plain columns, so that tests can write microseconds."""

    id = models.UUIDField(primary_key=True)
    reference = models.CharField(max_length=64, db_collation="C")
    customer = models.TextField(null=True)
    status = models.TextField(null=True)
    quantity = models.BigIntegerField(null=True)
    total = models.DecimalField(max_digits=20, decimal_places=2, null=True)
    weight = models.FloatField(null=True)
    gift = models.BooleanField(null=True)
    pay_by = models.DateTimeField(null=True)
    token = models.UUIDField(null=True)
    day = models.DateField(null=True)
    seen = models.DateTimeField(null=True)
    mail = models.EmailField(null=True)
    owner_id = models.IntegerField(null=True)
    seller_id = models.IntegerField(null=True)
    details = models.JSONField(null=True)
    marks = models.JSONField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)
    version = models.BigIntegerField()

    class Meta:
        app_label = "criteria"
        apps = Apps()

    def __str__(self) -> str:
        return self.reference


ATTNAMES = {spec.name: spec.attname for spec in ORDER.selectable().values()}


@contextmanager
def order_table() -> Iterator[None]:
    """The table, for as long as the block runs."""
    with connection.schema_editor() as editor:
        editor.create_model(Order)
    try:
        yield
    finally:
        with connection.schema_editor() as editor:
            editor.delete_model(Order)


def draft_values(row: Order) -> dict[str, Any]:
    """The row by property name, as drafts hold it."""
    values = {}
    for name, spec in ORDER.selectable().items():
        value = getattr(row, spec.attname)
        if isinstance(value, uuid.UUID):
            value = value.hex
        elif isinstance(value, datetime) and spec.type is PropertyType.MOMENT:
            value = to_moment(value)
        elif isinstance(value, date):
            value = value.isoformat()
        values[name] = value
    return values
