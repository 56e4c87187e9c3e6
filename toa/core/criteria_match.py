"""Criteria on the values of a draft, with the answer that PostgreSQL gives for its row.

There are two truth values. What is null is equal to nothing, in no list, before and after nothing: `!=` and
`=out=` hold for it, every other comparison does not. A member of an object that is missing, null, or of
another JSON type than the value compared with, is null.
"""

from __future__ import annotations

import math
import operator
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from toa.core.clock import read_datetime, to_datetime
from toa.core.criteria_nodes import LISTS, NEGATIVE, And, Comparison, Node, Now, Operator
from toa.core.specs import PropertyType

JSON_DECIMAL = r"-?[0-9]{1,255}(\.[0-9]{1,255})?"
"""A text inside an object that counts as a decimal; the same expression serves PostgreSQL."""
JSON_NUMBERS = frozenset({PropertyType.INTEGER, PropertyType.NUMBER, PropertyType.MOMENT})

_AS_THEY_ARE = frozenset(
    {PropertyType.STRING, PropertyType.EMAIL, PropertyType.INTEGER, PropertyType.MOMENT, PropertyType.BOOLEAN}
)
_COMPARE: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}
_DECIMAL = re.compile(JSON_DECIMAL)


def matches(node: Node, values: Mapping[str, Any], now_ms: int) -> bool:
    """Whether the values, by property name as drafts hold them, fulfil the criteria at the moment `now_ms`.

    Raises KeyError where `values` has no entry at all for a property that is compared.
    """
    if isinstance(node, Comparison):
        return _holds(node, values[node.selector], now_ms)
    if isinstance(node, And):
        return all(matches(item, values, now_ms) for item in node.items)
    return any(matches(item, values, now_ms) for item in node.items)


def _holds(node: Comparison, value: Any, now_ms: int) -> bool:
    for key in node.path:
        value = value.get(key) if isinstance(value, dict) else None
    if node.is_null_test:
        return (value is None) is (node.operator is Operator.EQ)
    actual = _in_object(node.type, value) if node.path else _of_column(node.type, value)
    if actual is None:
        return node.operator in NEGATIVE
    if node.operator in LISTS:
        listed = actual in [_operand(node, operand, now_ms) for operand in node.values]
        return listed is (node.operator is Operator.IN)
    return bool(_COMPARE[node.operator](actual, _operand(node, node.values[0], now_ms)))


def _operand(node: Comparison, value: Any, now_ms: int) -> Any:
    if isinstance(value, Now):
        value = now_ms if node.type is PropertyType.MOMENT else to_datetime(now_ms)
    return value if node.path else _of_column(node.type, value)


def _of_column(kind: PropertyType, value: Any) -> Any:
    """The value in the form that compares."""
    if value is None or kind in _AS_THEY_ARE:
        return value
    match kind:
        case PropertyType.NUMBER:
            # PostgreSQL sorts NaN above every number and finds it equal to itself.
            return (True, 0.0) if math.isnan(value) else (False, value)
        case PropertyType.DECIMAL:
            return value if isinstance(value, Decimal) else Decimal(value)
        case PropertyType.DATE:
            return value if isinstance(value, date) else date.fromisoformat(value)
        case PropertyType.DATETIME:
            moment = value if isinstance(value, datetime) else read_datetime(value)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        case PropertyType.UUID:
            return value if isinstance(value, str) else value.hex
        case PropertyType.REF:
            return value.hex if isinstance(value, uuid.UUID) else str(value)
    return value


def _in_object(kind: PropertyType, value: Any) -> Any:
    """A member of an object in the form that compares, or None where its JSON type is another."""
    if kind in JSON_NUMBERS:
        if isinstance(value, float):
            return Decimal(repr(value))
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind is PropertyType.BOOLEAN:
        return value if isinstance(value, bool) else None
    if kind is PropertyType.DECIMAL and isinstance(value, Decimal):
        return value  # a draft that was not stored yet
    if not isinstance(value, str):
        return None
    if kind is PropertyType.DECIMAL:
        return Decimal(value) if _DECIMAL.fullmatch(value) else None
    return value
