"""Criteria: a condition on an entity's properties, in RSQL.

::

    status==pending;pay_by<$now
    (total>=10.00,customer=in=(anna,'van Dyck'));reason!=null

`;` is and, `,` is or, and binds closer; parentheses group. `parse_criteria` reads text into a tree of nodes,
`matches` evaluates the tree on the values of a draft, `to_text` writes it again.
"""

from __future__ import annotations

from collections.abc import Mapping

from toa.core.criteria_lexer import MAX_LENGTH, Literal, Scanner
from toa.core.criteria_match import matches
from toa.core.criteria_nodes import (
    LISTS,
    NOW,
    And,
    Comparison,
    Node,
    Operator,
    Or,
    Scalar,
    comparisons,
    conjunction,
    disjunction,
)
from toa.core.criteria_targets import Target, check_operator, target
from toa.core.criteria_text import to_text
from toa.core.criteria_values import read_text, undeclared_type
from toa.core.specs import PropertySpec, PropertyType
from toa.exceptions import InvalidQuery

__all__ = [
    "MAX_COMPARISONS",
    "MAX_DEPTH",
    "MAX_LENGTH",
    "MAX_LIST_VALUES",
    "NOW",
    "And",
    "Comparison",
    "Node",
    "Operator",
    "Or",
    "Scalar",
    "comparisons",
    "matches",
    "parse_criteria",
    "to_text",
]

MAX_DEPTH = 32
"""Parentheses inside one another."""
MAX_COMPARISONS = 200
MAX_LIST_VALUES = 500
"""Values in all the lists of one criteria together."""

_INSTANTS = frozenset({PropertyType.MOMENT, PropertyType.DATETIME})


def parse_criteria(text: str, properties: Mapping[str, PropertySpec], *, allow_now: bool = False) -> Node:
    """Criteria's text as a tree of nodes, with every value in the type of its property.

    `properties` are those that may be named, by name (`EntitySpec.selectable()`). `allow_now` admits `$now`,
    which only criteria declared in a manifest may hold. Raises `InvalidQuery` with the position, in
    characters from 0.
    """
    return _Parser(text, properties, allow_now).parse()


class _Parser:
    __slots__ = ("allow_now", "comparisons", "list_values", "properties", "scanner")

    def __init__(self, text: str, properties: Mapping[str, PropertySpec], allow_now: bool) -> None:
        self.scanner = Scanner(text)
        self.properties = properties
        self.allow_now = allow_now
        self.comparisons = 0
        self.list_values = 0

    def parse(self) -> Node:
        if self.scanner.at_end():
            raise InvalidQuery("criteria are empty", position=0, hint="leave them out to ask for everything")
        node = self._any_of(0)
        if not self.scanner.at_end():
            raise self.scanner.unexpected("; or , or the end")
        return node

    def _any_of(self, depth: int) -> Node:
        items = [self._all_of(depth)]
        while self.scanner.take(","):
            items.append(self._all_of(depth))
        return disjunction(items)

    def _all_of(self, depth: int) -> Node:
        items = [self._term(depth)]
        while self.scanner.take(";"):
            items.append(self._term(depth))
        return conjunction(items)

    def _term(self, depth: int) -> Node:
        scanner = self.scanner
        scanner.space()
        opened = scanner.position
        if not scanner.take("("):
            return self._comparison()
        if depth == MAX_DEPTH:
            raise InvalidQuery(f"parentheses {MAX_DEPTH + 1} deep; {MAX_DEPTH} at most", position=opened)
        node = self._any_of(depth + 1)
        if not scanner.take(")"):
            raise scanner.unexpected("; or , or )", hint=f"the parenthesis at {opened} is not closed")
        return node

    def _comparison(self) -> Comparison:
        scanner = self.scanner
        selector = scanner.selector()
        self.comparisons += 1
        if self.comparisons > MAX_COMPARISONS:
            raise InvalidQuery(f"more than {MAX_COMPARISONS} comparisons", position=selector.position)
        found = target(selector.name, selector.path, self.properties, selector.position)
        scanner.space()
        position = scanner.position
        operator = scanner.operator()
        if operator in LISTS:
            return self._in_list(found, operator, position)
        return self._single(found, operator, position)

    def _single(self, found: Target, operator: Operator, position: int) -> Comparison:
        literal = self.scanner.literal()
        null = literal.text == "null" and not literal.quoted
        kind = found.type or (PropertyType.STRING if null else undeclared_type(literal.text, quoted=literal.quoted))
        check_operator(found, operator, kind, null=null, position=position)
        value: Scalar
        if null:
            value = None
        elif literal.text == NOW.value and not literal.quoted:
            value, kind = self._now(found, literal)
        else:
            value = read_text(found, literal.text, quoted=literal.quoted, position=literal.position)
        return Comparison(selector=found.selector, path=found.path, operator=operator, values=(value,), type=kind)

    def _now(self, found: Target, literal: Literal) -> tuple[Scalar, PropertyType]:
        if not self.allow_now:
            raise InvalidQuery(
                "$now stands in criteria that a manifest declares",
                position=literal.position,
                hint="give the moment in epoch milliseconds, or quote it for the text",
            )
        if found.type not in _INSTANTS:
            raise InvalidQuery(
                f"{found.label!r} is not a moment, so $now does not fit it",
                position=literal.position,
                hint="quote it for the text",
            )
        return NOW, found.type

    def _in_list(self, found: Target, operator: Operator, position: int) -> Comparison:
        scanner = self.scanner
        if not scanner.take("("):
            raise scanner.unexpected(f"( behind {operator}")
        literals: list[Literal] = []
        while not scanner.take(")"):
            if literals and not scanner.take(","):
                raise scanner.unexpected(", or ) in a list")
            literals.append(scanner.literal())
            self.list_values += 1
            if self.list_values > MAX_LIST_VALUES:
                raise InvalidQuery(f"more than {MAX_LIST_VALUES} values in lists", position=literals[-1].position)
        values: list[Scalar] = []
        kinds = {found.type} if found.type else set()
        for literal in literals:
            if not literal.quoted and literal.text in ("null", NOW.value):
                raise InvalidQuery(
                    f"{literal.text} in a list", position=literal.position, hint="compare with it by == or !="
                )
            kinds.add(found.type or undeclared_type(literal.text, quoted=literal.quoted))
            if len(kinds) > 1:
                raise InvalidQuery("the values of a list are of one type", position=literal.position)
            values.append(read_text(found, literal.text, quoted=literal.quoted, position=literal.position))
        kind = next(iter(kinds), PropertyType.STRING)
        return Comparison(selector=found.selector, path=found.path, operator=operator, values=tuple(values), type=kind)
