"""Criteria as text in one canonical spelling: parsing it gives an equal tree."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

from toa.core.criteria_nodes import LISTS, And, Comparison, Node, Now, Or, Scalar

_PLAIN_KEY = re.compile(r"[\w-]+")


def to_text(node: Node) -> str:
    """The text of a node: texts quoted, everything else bare, no spaces. Quotes may make it longer than it was."""
    match node:
        case Or(items):
            return ",".join(to_text(item) for item in items)
        case And(items):
            return ";".join(f"({to_text(item)})" if isinstance(item, Or) else to_text(item) for item in items)
        case Comparison():
            return f"{_selector(node)}{node.operator}{_operand(node)}"


def _selector(node: Comparison) -> str:
    return ".".join((node.selector, *(k if _PLAIN_KEY.fullmatch(k) else _quoted(k) for k in node.path)))


def _operand(node: Comparison) -> str:
    texts = [_value(value) for value in node.values]
    return f"({','.join(texts)})" if node.operator in LISTS else texts[0]


def _value(value: Scalar) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Now():
            return value.value
        case Decimal():
            return format(value, "f") if abs(value.adjusted()) < 32 else str(value)
        case date():  # and datetime
            return value.isoformat()
        case str():
            return _quoted(value)
    return repr(value)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
