"""The stable order of rows, and the rows behind a cursor in it.

Null is greater than every value, which is PostgreSQL's own default: last ascending, first descending. Texts
are ordered by code point (collation "C"), so that a page begins where the one before ended, on every
database.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.expressions import OrderBy
from django.db.models.functions import Collate
from django.db.models.lookups import Exact, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.db.models.sql.compiler import SQLCompiler

from toa.core.criteria_targets import key_type
from toa.core.cursor import Cursor, SortKey
from toa.core.specs import EntitySpec, PropertySpec, PropertyType

TEXTS = frozenset({PropertyType.STRING, PropertyType.EMAIL})


class RowComparison(Func):
    """`(a, b, …) > (x, y, …)`, or `<`: one range of an index on the columns."""

    output_field = BooleanField()

    def __init__(self, columns: Sequence[Any], values: Sequence[Any], *, descending: bool) -> None:
        super().__init__(*columns, *values)
        self.descending = descending

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **kwargs: Any
    ) -> tuple[str, tuple[Any, ...]]:
        parts: list[str] = []
        parameters: list[Any] = []
        for expression in self.get_source_expressions():
            sql, values = compiler.compile(expression)
            parts.append(sql)
            parameters += values
        half = len(parts) // 2
        sign = "<" if self.descending else ">"
        return f"({', '.join(parts[:half])}) {sign} ({', '.join(parts[half:])})", tuple(parameters)


def column_of(spec: PropertySpec) -> str:
    """The name by which Django finds the stored value of a property: a ref's key, not its relation."""
    return spec.attname or spec.field or spec.name


def comparable(spec: PropertySpec) -> F | Collate:
    """The column as it is ordered."""
    column = F(column_of(spec))
    return Collate(column, "C") if key_type(spec) in TEXTS else column


def ordering(order: Sequence[SortKey], entity: EntitySpec) -> list[OrderBy]:
    """The arguments of `order_by` for the keys of an order."""
    properties = entity.selectable()
    return [OrderBy(comparable(properties[key.name]), descending=key.descending) for key in order]


def rows_after(cursor: Cursor, order: Sequence[SortKey], entity: EntitySpec, present: Container[str] = ()) -> Q:
    """The rows behind a cursor. `present` names properties that are null in none of the rows asked for.

    Where all directions agree and no null can follow, this is a row comparison, which an index on the keys answers
    from that place on. Else it is a ladder of comparisons, bounded on its first key unless a null can follow there.
    """
    properties = entity.selectable()
    steps = [
        _Step(key, properties[key.name], value, key.nullable and key.name not in present)
        for key, value in zip(order, cursor.values, strict=True)
    ]
    if _is_one_range(steps):
        return Q(
            RowComparison(
                [step.column for step in steps],
                [step.bound for step in steps],
                descending=order[0].descending,
            )
        )
    return steps[0].reached() & _ladder(steps)


class _Step:
    """One key of the order with the cursor's value for it."""

    def __init__(self, key: SortKey, spec: PropertySpec, value: Any, nullable: bool) -> None:
        self.descending = key.descending
        self.nullable = nullable
        self.name = column_of(spec)
        self.column = comparable(spec)
        self.value = value
        # As an expression an instant is bound as it is; the field of a moment would cut it to milliseconds.
        self.bound = Value(value)

    @property
    def nulls_follow(self) -> bool:
        return self.nullable and not self.descending

    def reached(self) -> Q:
        """Rows that are not before the cursor by this key: nothing more than a bound for an index."""
        if self.value is None or self.nulls_follow:
            return Q()
        compare = LessThanOrEqual if self.descending else GreaterThanOrEqual
        return Q(compare(self.column, self.bound))

    def same(self) -> Q:
        if self.value is None:
            return self._null(True)
        return Q(Exact(F(self.name), self.bound))

    def beyond(self) -> Q | None:
        """Rows that are behind the cursor by this key; None where there are none."""
        if self.value is None:
            return self._null(False) if self.descending else None
        if self.descending:
            return Q(LessThan(self.column, self.bound))
        greater = Q(GreaterThan(self.column, self.bound))
        return greater | self._null(True) if self.nulls_follow else greater

    def _null(self, wanted: bool) -> Q:
        return Q(**{f"{self.name}__isnull": wanted})


def _is_one_range(steps: Sequence[_Step]) -> bool:
    descending = steps[0].descending
    # Descending, nulls are before every value; ascending they follow, and a row comparison would lose them.
    return not any(step.descending is not descending or step.value is None or step.nulls_follow for step in steps)


def _ladder(steps: Sequence[_Step]) -> Q:
    result = steps[-1].beyond()
    assert result is not None, "the last key is the id, which is never null"
    for step in reversed(steps[:-1]):
        level = step.same() & result
        beyond = step.beyond()
        result = level if beyond is None else beyond | level
    return result
