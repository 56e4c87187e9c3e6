"""Criteria, once read: a frozen tree of comparisons joined by And and Or."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from typing import TypeAlias

from toa.core.specs import PropertyType


class Operator(StrEnum):
    """The operators of criteria, as written."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    IN = "=in="
    OUT = "=out="


ORDERING = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE})
LISTS = frozenset({Operator.IN, Operator.OUT})
NEGATIVE = frozenset({Operator.NE, Operator.OUT})
"""Operators that hold where there is no value: null is not equal to anything and in no list."""


class Now(Enum):
    """`$now`: the moment at which the criteria are asked, not the one at which they were read."""

    NOW = "$now"

    def __repr__(self) -> str:
        return "NOW"


NOW = Now.NOW

Scalar: TypeAlias = str | int | float | Decimal | date | Now | None
"""A value of a comparison in the form drafts hold it; dates as `date`, date-times as aware `datetime`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One property, or a member of an object at `path`, against one value or a list of them."""

    selector: str
    path: tuple[str, ...] = ()
    operator: Operator
    values: tuple[Scalar, ...]
    """Of `=in=` and `=out=` the list; else exactly one, None for `null`."""
    type: PropertyType
    """How the values compare."""

    @property
    def is_null_test(self) -> bool:
        """Whether this is `== null` or `!= null`."""
        return self.values == (None,)


@dataclass(frozen=True, slots=True)
class And:
    """Holds where all of two or more nodes hold."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Holds where one of two or more nodes holds."""

    items: tuple[Node, ...]


Node: TypeAlias = And | Or | Comparison


def conjunction(items: Iterable[Node]) -> Node:
    """All of one or more nodes, without an And directly inside an And."""
    flat = tuple(part for item in items for part in (item.items if isinstance(item, And) else (item,)))
    return flat[0] if len(flat) == 1 else And(flat)


def disjunction(items: Iterable[Node]) -> Node:
    """One of one or more nodes, without an Or directly inside an Or."""
    flat = tuple(part for item in items for part in (item.items if isinstance(item, Or) else (item,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def comparisons(node: Node) -> Iterator[Comparison]:
    """Every comparison of the tree, from left to right."""
    if isinstance(node, Comparison):
        yield node
    else:
        for item in node.items:
            yield from comparisons(item)
