"""Whether an index serves criteria, so that what comes due is found without reading the whole table."""

from __future__ import annotations

from toa.core.criteria import And, Comparison, Node, Operator, parse_criteria, to_text
from toa.core.criteria_nodes import conjunction
from toa.core.specs import EntitySpec

_NARROWING = frozenset({Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.IN})


def serves(entity: EntitySpec, criteria: Node) -> bool:
    """Whether a declared index, a unique rule or the primary key narrows what the criteria ask for.

    A partial index counts where the criteria contain its condition; a plain one where they compare its first
    property. Alternatives (`,`) are served where each of them is.
    """
    if not isinstance(criteria, (And, Comparison)):
        return all(serves(entity, part) for part in criteria.items)
    terms = _terms(criteria)
    narrowed = {term.selector for term in terms if isinstance(term, Comparison) and _narrows(term)}
    if "id" in narrowed or any(columns[0] in narrowed for columns in entity.unique.values()):
        return True
    for index in entity.index.values():
        condition = _condition(entity, index.where)
        if condition is None:
            if index.on[0].removeprefix("-") in narrowed:
                return True
        elif condition <= terms:
            return True
    # A nested choice narrows as well as its parts do.
    return any(serves(entity, term) for term in terms if not isinstance(term, Comparison))


def suggestion(operation: str, criteria: Node) -> str:
    """An index that would serve the criteria, as it would be written in the manifest."""
    terms: list[Comparison] = [term for term in _terms(criteria) if isinstance(term, Comparison) and _narrows(term)]
    fixed = [term for term in terms if term.operator is Operator.EQ and term.values != (None,)]
    ranged = sorted({term.selector for term in terms if term not in fixed})
    if not terms:
        return "declare entity.index with a `where` that the criteria contain"
    if not ranged or not fixed:
        return f"entity.index: {{ {operation}: [{', '.join(sorted({term.selector for term in terms}))}] }}"
    fixed.sort(key=lambda term: term.selector)
    where = to_text(conjunction(fixed))
    return f'entity.index: {{ {operation}: {{ on: [{", ".join(ranged)}], where: "{where}" }} }}'


def _terms(node: Node) -> set[Node]:
    """What must hold all together."""
    return set(node.items) if isinstance(node, And) else {node}


def _narrows(term: Comparison) -> bool:
    return term.operator in _NARROWING and not term.path


def _condition(entity: EntitySpec, where: str | None) -> set[Node] | None:
    return None if where is None else _terms(parse_criteria(where, entity.selectable()))
