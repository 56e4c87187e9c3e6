"""Pages of a list by the place where the page before ended: nothing is counted, nothing is walked over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.core.exceptions import ImproperlyConfigured
from django.db.models import (
    BooleanField,
    DateField,
    DateTimeField,
    DecimalField,
    F,
    Field,
    FloatField,
    IntegerField,
    QuerySet,
    UUIDField,
    Value,
)
from django.db.models.options import Options

from toa.core.cursor import SortKey, decode_cursor, encode_cursor
from toa.core.specs import PropertyType
from toa.models.keyset import RowComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some rows, and the marks where the pages beside them begin; null where there is none."""

    rows: list[Any]
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Order:
    """A total order of a table's rows: columns that all go the same way, so that one index serves it, the key last.

    The first may be null: null is greater than every value.
    """

    keys: tuple[SortKey, ...]

    @classmethod
    def by(cls, options: Options[Any], names: Sequence[str]) -> Self:
        """The order of a table by names of fields, as `order_by` takes them; the key is added where it is missing.

        Raises ImproperlyConfigured for an order that goes both ways: no page of it could be found by an index.
        """
        wanted = list(names) or [options.pk.name]
        down = wanted[0].startswith("-")
        if any(name.startswith("-") is not down for name in wanted):
            raise ImproperlyConfigured(f"{options.label}: ordering goes up and down: {', '.join(wanted)}")
        key = options.pk.name
        bare = [key if name in ("pk", "-pk") else name.lstrip("-") for name in wanted]
        return cls(tuple(_key(options.get_field(name), down) for name in dict.fromkeys([*bare, key])))

    @property
    def names(self) -> list[str]:
        return [key.name for key in self.keys]

    @property
    def descending(self) -> bool:
        return self.keys[0].descending

    def of(self, rows: QuerySet[Any], *, reverse: bool = False) -> QuerySet[Any]:
        """The rows in this order, or in its reverse."""
        sign = "-" if self.descending is not reverse else ""
        return rows.order_by(*(f"{sign}{name}" for name in self.names))

    def mark(self, row: Any) -> str:
        """The place of a row, as text for an address."""
        return encode_cursor(self.keys, {name: getattr(row, name) for name in self.names})

    def beyond(self, rows: QuerySet[Any], mark: str, *, reverse: bool) -> list[QuerySet[Any]]:
        """The rows behind a mark, or before it, each part a range of an index. Raises InvalidQuery."""
        values = [
            _given(key, value) for key, value in zip(self.keys, decode_cursor(mark, self.keys).values, strict=True)
        ]
        first, *others = self.keys
        down = self.descending is not reverse
        if values[0] is None:
            compared = _compared([key.name for key in others], values[1:], descending=down)
            same = rows.filter(**{f"{first.name}__isnull": True}).filter(compared)
            return [same, rows.filter(**{f"{first.name}__isnull": False})] if down else [same]
        # A comparison with null is never true.
        part = rows.filter(_compared(self.names, values, descending=down))
        return [part, rows.filter(**{f"{first.name}__isnull": True})] if first.nullable and not down else [part]


def page(
    parts: Sequence[QuerySet[Any]], order: Order, size: int, *, after: str | None = None, before: str | None = None
) -> Page:
    """At most `size` rows of the parts together, behind the mark `after`, or up to the mark `before`.

    No row is in two parts. Raises InvalidQuery for a mark of another list.
    """
    reverse = before is not None
    mark = before if reverse else after
    pieces = [
        piece for part in parts for piece in ([part] if mark is None else order.beyond(part, mark, reverse=reverse))
    ]
    rows = _merged([order.of(piece, reverse=reverse)[: size + 1] for piece in pieces], order, size + 1, reverse)
    more = len(rows) > size
    rows = rows[:size]
    if reverse:
        if not more:
            return page(parts, order, size)  # the first page, and a whole one
        rows.reverse()
    if not rows:
        return Page(rows=rows, before=mark, after=None)
    return Page(
        rows=rows,
        before=order.mark(rows[0]) if mark is not None else None,
        after=order.mark(rows[-1]) if reverse or more else None,
    )


def _merged(pieces: Sequence[QuerySet[Any]], order: Order, limit: int, reverse: bool) -> list[Any]:
    if len(pieces) < 2:
        return [row for piece in pieces for row in piece]
    return list(order.of(pieces[0].union(*pieces[1:], all=True), reverse=reverse)[:limit])


def _compared(names: Sequence[str], values: Sequence[Any], *, descending: bool) -> RowComparison:
    return RowComparison([F(name) for name in names], [Value(value) for value in values], descending=descending)


_TYPES: Sequence[tuple[type[Field[Any, Any]], PropertyType]] = (
    (DateTimeField, PropertyType.MOMENT),
    (DateField, PropertyType.DATE),
    (UUIDField, PropertyType.UUID),
    (DecimalField, PropertyType.DECIMAL),
    (FloatField, PropertyType.NUMBER),
    (BooleanField, PropertyType.BOOLEAN),
    (IntegerField, PropertyType.INTEGER),
)


def _key(field: Any, descending: bool) -> SortKey:
    type = next((kind for cls, kind in _TYPES if isinstance(field, cls)), PropertyType.STRING)
    return SortKey(name=field.name, descending=descending, type=type, nullable=field.null)


def _given(key: SortKey, value: Any) -> Any:
    return UUIDField().to_python(value) if key.type is PropertyType.UUID else value
