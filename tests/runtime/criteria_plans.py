"""Conditions as plain data, with three readings written apart from the product: text, `Q`, and a test of a row."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from django.db.models import Q
from hypothesis import strategies as st

from tests.runtime.order_model import Order
from toa.core.clock import EPOCH

MS = timedelta(milliseconds=1)
US = timedelta(microseconds=1)
NOW = EPOCH + timedelta(milliseconds=2)
UUIDS = [UUID(int=1), UUID(int=2**127), UUID("0190b1f0-c6d8-7d0e-8b1a-5d0c3a0f9e11")]
INSTANTS = [
    EPOCH,
    EPOCH + MS,
    EPOCH + MS + US,
    EPOCH + 2 * MS - US,
    EPOCH + 2 * MS,
    EPOCH - US,
    datetime(1, 1, 1, tzinfo=EPOCH.tzinfo),
    datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=EPOCH.tzinfo),
]
TEXTS = [
    "",
    "a",
    "A",
    "ab",
    "Z",
    "é",
    "\ufffd",
    "😀",
    "a'b",
    'a"b',
    "a\\",
    "null",
    "12",
    "%",
    "$now",
    " a",
    "' OR 1=1 --",
]

# The values of each column; null is added where a column takes it.
POOLS: dict[str, list[Any]] = {
    "reference": TEXTS,
    "customer": TEXTS,
    "status": ["pending", "approved", "packed"],
    "quantity": [-(2**63), -1, 0, 1, 5, 2**63 - 1],
    "total": [Decimal(text) for text in ("-0.10", "0.00", "0.10", "10.00", "999999999999999999.99")],
    "weight": [0.0, -0.0, 0.1, 0.30000000000000004, 5e-324, -1e308, math.inf, math.nan],
    "gift": [False, True],
    "pay_by": INSTANTS,
    "token": UUIDS,
    "day": [date(1, 1, 1), date(2026, 2, 28), date(2026, 3, 1), date(9999, 12, 31)],
    "seen": INSTANTS,
    "mail": ["a@example.org", "Z@example.org"],
    "owner_id": [1, 2, 70],
    "seller_id": [1, 2, 70],
    "created_at": INSTANTS,
    "version": [1, 2],
}
PROPERTY = {"owner_id": "owner", "seller_id": "seller", "created_at": "CREATED", "version": "VERSION"}
NOT_NULL = frozenset({"reference", "created_at", "version"})
UNORDERED = frozenset({"gift", "owner_id"})
# What an undeclared member may hold, and what criteria may compare it with.
MEMBERS: list[Any] = [
    0,
    1,
    1.0,
    -0.5,
    0.1,
    2**70,
    1e300,
    True,
    False,
    None,
    "",
    "a",
    "A",
    "1",
    "true",
    "null",
    "é",
    "0.10",
]
COMPARED: list[Any] = [
    0,
    1,
    Decimal("0.1"),
    Decimal("-0.5"),
    2**70,
    True,
    False,
    "",
    "a",
    "A",
    "1",
    "true",
    "null",
]

SYMBOLS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LOOKUPS = {"==": "", "<": "__lt", "<=": "__lte", ">": "__gt", ">=": "__gte", "=in=": "__in"}
OPPOSITE = {"!=": "==", "=out=": "=in="}


@dataclass(frozen=True)
class Plan:
    """`values` compare with a column (an attribute of the model) or with a member of `details` at `path`."""

    column: str
    path: tuple[str, ...]
    symbol: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Joined:
    """`symbol` is `;`, `,` or, for one part, `not`."""

    symbol: str
    parts: tuple[Any, ...]


# --- the readings


def as_text(plan: Any) -> str:
    if isinstance(plan, Joined):
        return "(" + plan.symbol.join(map(as_text, plan.parts)) + ")"
    name = ".".join((PROPERTY.get(plan.column, plan.column), *(_quoted(key) for key in plan.path)))
    if plan.symbol in SYMBOLS:
        return f"{name}{plan.symbol}{_literal(plan, plan.values[0])}"
    return f"{name}{plan.symbol}({','.join(_literal(plan, value) for value in plan.values)})"


def as_q(plan: Any) -> Q:
    if isinstance(plan, Joined):
        if plan.symbol == "not":
            return ~as_q(plan.parts[0])
        return Q(*map(as_q, plan.parts), _connector=Q.AND if plan.symbol == ";" else Q.OR)
    name = "__".join((PROPERTY.get(plan.column, plan.column), *plan.path))
    if plan.symbol in OPPOSITE:
        return ~as_q(Plan(plan.column, plan.path, OPPOSITE[plan.symbol], plan.values))
    if plan.values == (None,):
        return Q(**{f"{name}__isnull": True})
    value = plan.values if plan.symbol == "=in=" else plan.values[0]
    return Q(**{name + LOOKUPS[plan.symbol]: value})


def holds(plan: Any, row: Order) -> bool:
    if isinstance(plan, Joined):
        answers = [holds(part, row) for part in plan.parts]
        return {";": all(answers), ",": any(answers), "not": not answers[0]}[plan.symbol]
    value = getattr(row, plan.column)
    for key in plan.path:
        value = value[key] if isinstance(value, dict) and key in value else None
    if plan.values == (None,):
        return (value is None) == (plan.symbol == "==")
    answers = [_compares(plan, SYMBOLS.get(plan.symbol, operator.eq), value, wanted) for wanted in plan.values]
    if plan.symbol == "=out=":
        return not any(answers)
    return any(answers)


def _compares(plan: Plan, compare: Callable[[Any, Any], bool], value: Any, wanted: Any) -> bool:
    if value is None:
        return compare is operator.ne
    if plan.path:
        if _json_type(value) is not _json_type(wanted):
            return compare is operator.ne
        if _json_type(value) is Fraction:
            return compare(Fraction(str(value)), Fraction(str(wanted)))
        return compare(value, wanted)
    if plan.column in ("pay_by", "created_at"):
        return compare(value - (value - EPOCH) % MS, wanted)
    if plan.column == "weight" and math.isnan(value):
        return compare is operator.ne or compare in (operator.gt, operator.ge)
    return compare(value, wanted)


def _json_type(value: Any) -> type:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return Fraction
    return type(value)


def _literal(plan: Plan, value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return _quoted(value)
        case datetime():
            in_ms = plan.column in ("pay_by", "created_at")
            return str((value - EPOCH) // MS) if in_ms else value.isoformat()
        case date():
            return value.isoformat()
        case float():
            return repr(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- the strategies


def _rows() -> st.SearchStrategy[dict[str, Any]]:
    columns: dict[str, st.SearchStrategy[Any]] = {
        column: st.sampled_from(pool if column in NOT_NULL else [*pool, None]) for column, pool in POOLS.items()
    }
    member = st.sampled_from(MEMBERS)
    inner = st.dictionaries(st.sampled_from(["a", "b.c", "0"]), member, max_size=3)
    columns["details"] = st.one_of(
        st.none(),
        st.dictionaries(
            st.sampled_from(["a", "b.c", "0"]),
            st.one_of(member, inner, st.lists(member | inner, max_size=2)),
            max_size=3,
        ),
    )
    columns["marks"] = st.sampled_from([None, [], [1], [None]])
    return st.fixed_dictionaries(columns)


rows = st.lists(_rows(), min_size=1, max_size=12)


def symbols_of(column: str) -> list[str]:
    """The operators that criteria know for a column."""
    return ["==", "!=", "=in=", "=out="] if column in UNORDERED else [*SYMBOLS, "=in=", "=out="]


def values_of(column: str) -> list[Any]:
    """What criteria may compare a column with: finite numbers, whole milliseconds."""
    pool = [value for value in POOLS[column] if not (isinstance(value, float) and not math.isfinite(value))]
    return [value - (value - EPOCH) % MS for value in pool] if column in ("pay_by", "created_at") else pool


def operands_of(column: str, symbol: str) -> list[tuple[Any, ...]]:
    """One operand of each value; null where the operator takes it; of a list also an empty and a full one."""
    values = values_of(column)
    single: list[tuple[Any, ...]] = [(value,) for value in values]
    if symbol in ("=in=", "=out="):
        return [*single, (), tuple(values)]
    return [*single, (None,)] if symbol in ("==", "!=") else single


@st.composite
def _columns(draw: st.DrawFn) -> Plan:
    column = draw(st.sampled_from(sorted(POOLS)))
    symbol = draw(st.sampled_from(symbols_of(column)))
    return Plan(column, (), symbol, draw(_operands(symbol, values_of(column))))


@st.composite
def _members(draw: st.DrawFn) -> Plan:
    path = draw(st.sampled_from([("a",), ("b.c",), ("0",), ("a", "a"), ("a", "0"), ("b.c", "b.c"), ("a", "b.c", "0")]))
    symbol = draw(st.sampled_from([*SYMBOLS, "=in=", "=out="]))
    kind = draw(st.sampled_from([Fraction, str, bool]))
    pool = [value for value in COMPARED if _json_type(value) is kind]
    if kind is bool and symbol not in ("==", "!="):
        symbol = draw(st.sampled_from(["==", "!=", "=in=", "=out="]))
    return Plan("details", path, symbol, draw(_operands(symbol, pool)))


def _operands(symbol: str, pool: list[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    if symbol in ("=in=", "=out="):
        return st.lists(st.sampled_from(pool), max_size=4).map(tuple)
    one = st.sampled_from(pool).map(lambda value: (value,))
    return one | st.just((None,)) if symbol in ("==", "!=") else one


_nulls = st.builds(
    Plan, st.sampled_from(["details", "marks"]), st.just(()), st.sampled_from(["==", "!="]), st.just((None,))
)
_leaves = st.one_of(_columns(), _columns(), _members(), _nulls)


def _joined(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(Joined, st.sampled_from([";", ","]), st.lists(parts, min_size=2, max_size=3).map(tuple))


def _negated(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(Joined, st.just("not"), st.tuples(parts))


def _orders_a_member(plan: Any) -> bool:
    if isinstance(plan, Joined):
        return any(map(_orders_a_member, plan.parts))
    return bool(plan.path) and plan.symbol in ("<", "<=", ">", ">=")


plans = st.recursive(_leaves, _joined, max_leaves=5)
# A negated order of a member is refused, so none is asked for.
negatable = st.recursive(_leaves, lambda parts: _joined(parts) | _negated(parts), max_leaves=5).filter(
    lambda plan: not _orders_a_member(plan)
)
