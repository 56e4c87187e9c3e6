"""Members of JSON columns in SQL, compared by their JSON type.

A path leads through objects only. A member that is missing, null, inside an array, or of another JSON type
than the one compared with, is null; there are two truth values, as in `toa.core.criteria.matches`. No cast
can fail: each stands behind a test of the very type it needs.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func
from django.db.models.sql.compiler import SQLCompiler

from toa.core.criteria import Operator
from toa.core.criteria_match import JSON_DECIMAL, JSON_NUMBERS
from toa.core.criteria_nodes import LISTS, NEGATIVE, ORDERING
from toa.core.specs import PropertyType

_TEXT = "CASE WHEN jsonb_typeof({0}) = 'string' THEN {0} #>> '{{}}' END"
_NUMBER = "CASE WHEN jsonb_typeof({0}) = 'number' THEN ({0})::numeric END"
_BOOLEAN = "CASE WHEN jsonb_typeof({0}) = 'boolean' THEN ({0})::boolean END"
_DECIMAL = (
    "CASE WHEN jsonb_typeof({0}) = 'string' AND ({0} #>> '{{}}') ~ '^"
    + JSON_DECIMAL.replace("{", "{{").replace("}", "}}")
    + "$' THEN ({0} #>> '{{}}')::numeric END"
)
_SQL_OPERATORS = {Operator.EQ: "=", Operator.NE: "<>"}


class MemberComparison(Func):
    """Whether the member at `path` of a JSON column compares with the values as asked. Never null."""

    output_field = BooleanField()

    def __init__(self, column: str, path: tuple[str, ...], operator: str, kind: str, values: tuple[Any, ...]) -> None:
        super().__init__(F(column))
        self.path = path
        self.operator = Operator(operator)
        self.kind = PropertyType(kind)
        self.values = values

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **kwargs: Any
    ) -> tuple[str, tuple[Any, ...]]:
        member, parameters = _member(self, compiler, self.path)
        template, cast = _form(self.kind)
        left = template.format(member)
        count = template.count("{0}")
        if self.operator in ORDERING and cast == "text":
            left = f'({left}) COLLATE "C"'
        values = ", ".join([f"%s::{cast}"] * len(self.values))
        if self.operator in LISTS:
            comparison = f"{left} {'IN' if self.operator is Operator.IN else 'NOT IN'} ({values})"
        else:
            comparison = f"{left} {_SQL_OPERATORS.get(self.operator, self.operator)} {values}"
        otherwise = "TRUE" if self.operator in NEGATIVE else "FALSE"
        return f"COALESCE({comparison}, {otherwise})", (*parameters * count, *self.values)


class MemberIsNull(Func):
    """Whether the member at `path` is missing or JSON's null; with an empty path, whether the column is."""

    output_field = BooleanField()

    def __init__(self, column: str, path: tuple[str, ...], *, negated: bool = False) -> None:
        super().__init__(F(column))
        self.path = path
        self.negated = negated

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **kwargs: Any
    ) -> tuple[str, tuple[Any, ...]]:
        member, parameters = _member(self, compiler, self.path)
        return f"COALESCE(jsonb_typeof({member}), 'null') {'<>' if self.negated else '='} 'null'", parameters


def _member(expression: Func, compiler: SQLCompiler, path: tuple[str, ...]) -> tuple[str, tuple[Any, ...]]:
    column, parameters = compiler.compile(expression.get_source_expressions()[0])
    # `->` with a text takes no element of an array, unlike `#>` with the same text.
    return f"({column}{' -> %s::text' * len(path)})", (*parameters, *path)


def _form(kind: PropertyType) -> tuple[str, str]:
    """How a member becomes comparable, and the SQL type of what it is compared with."""
    if kind in JSON_NUMBERS:
        return _NUMBER, "numeric"
    if kind is PropertyType.DECIMAL:
        return _DECIMAL, "numeric"
    return (_BOOLEAN, "boolean") if kind is PropertyType.BOOLEAN else (_TEXT, "text")
