"""Values in their one spelling, by their schema: defaults filled in, decimals, UUIDs and whole numbers made equal.

A schema is compiled once to a tree of nodes. A node returns the very object it was given where nothing had to change,
so that an ordinary value costs one walk and no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from toa.manifests.content import (
    MAX_INTEGER,
    MAX_TEXT,
    MIN_INTEGER,
    Node,
    Unfit,
    guard,
    lenient,
    text,
    walk_list,
    walk_mapping,
)
from toa.manifests.decimals import DIGITS, PLACES, DecimalRule, UnfitDecimal
from toa.manifests.formats import uuid_hex
from toa.manifests.patterns import matcher
from toa.manifests.pointers import resolve

_OBJECT = ("properties", "patternProperties", "additionalProperties")
_ARRAY = ("items", "additionalItems")
_NULL = {"type": "null"}


class UnfitDefault(ValueError):
    """A default that is no value of its own schema."""


def normaliser(schema: Any) -> Node:
    """The node of a whole schema, taken as sound: short forms expanded, local `$ref` only.

    Raises UnfitDefault.
    """
    compiler = _Compiler(schema)
    node = compiler.node(schema)
    try:
        for settle in compiler.unsettled:
            settle()
    except Unfit as unfit:
        raise UnfitDefault(f"a default does not fit: {unfit.problems[0][1]}") from None
    return node


class _Compiler:
    def __init__(self, root: Any) -> None:
        self.root = root
        # Where several parts of a schema see one value, what one has read as a Decimal is nothing new to another.
        self.guard: Node = lenient if _holds_key(root, ("allOf", "anyOf", "oneOf", "patternProperties")) else guard
        self.refs: dict[str, Node] = {}
        self.unsettled: list[Callable[[], None]] = []
        """What can be done only when every node exists: defaults pass through their own nodes."""

    def node(self, schema: Any) -> Node:
        if not isinstance(schema, Mapping):
            return self.guard
        if "$ref" in schema:
            return self._ref(schema["$ref"])
        nodes = [self._own(schema)]
        nodes += [self.node(part) for part in schema.get("allOf", ())]
        for choice in ("anyOf", "oneOf"):
            others = [part for part in schema.get(choice, ()) if part != _NULL]
            # Only `null or this` says for certain what a value is to become.
            if len(others) == 1 and len(schema[choice]) == 2:
                nodes.append(self.node(others[0]))
        nodes = [node for node in nodes if node is not self.guard] or [self.guard]
        return nodes[0] if len(nodes) == 1 else partial(_chain, nodes)

    def _ref(self, pointer: str) -> Node:
        if pointer not in self.refs:
            # The target may lead back here, so its node is looked up when it is first needed.
            found: list[Node] = []

            def follow(value: Any, depth: int) -> Any:
                return found[0](value, depth + 1)

            self.refs[pointer] = follow
            found.append(self.node(resolve(self.root, pointer)))
        return self.refs[pointer]

    def _own(self, schema: Mapping[str, Any]) -> Node:
        leaf = self._leaf(schema)
        of_object = self._object(schema, leaf) if any(key in schema for key in _OBJECT) else None
        return self._array(schema, of_object or leaf) if any(key in schema for key in _ARRAY) else of_object or leaf

    def _object(self, schema: Mapping[str, Any], otherwise: Node) -> Node:
        properties = schema.get("properties", {})
        children = {name: self.node(part) for name, part in properties.items()}
        defaults = {
            name: part["default"]
            for name, part in properties.items()
            if isinstance(part, Mapping) and "default" in part
        }
        patterns = [(matcher(p), self.node(part)) for p, part in schema.get("patternProperties", {}).items()]
        additional = self.node(schema.get("additionalProperties", True))
        rest = partial(_rest, patterns, additional) if patterns or additional is not guard else None
        if patterns:
            # A declared property is held by the patterns that match its name as well.
            children = {
                name: partial(_chain, [node, *(other for matches, other in patterns if matches(name))])
                for name, node in children.items()
            }
        prepared: dict[str, Any] = {}
        self.unsettled.append(
            lambda: prepared.update({name: children[name](value, 0) for name, value in defaults.items()})
        )
        return partial(_walk_object, children, prepared, rest, otherwise)

    def _array(self, schema: Mapping[str, Any], otherwise: Node) -> Node:
        items = schema.get("items", True)
        if isinstance(items, list):
            first = [self.node(part) for part in items]
            further = self.node(schema.get("additionalItems", True))
            return partial(_walk_array, lambda index: first[index] if index < len(first) else further, otherwise)
        node = self.node(items)
        return partial(_walk_array, None if node is guard else lambda index: node, otherwise)

    def _leaf(self, schema: Mapping[str, Any]) -> Node:
        kinds = schema.get("type", ())
        kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        match schema.get("format"):
            case "decimal":
                rule = DecimalRule(schema.get("digits", DIGITS), schema.get("places", PLACES))
                return partial(_decimal, rule)
            case "uuid":
                return _uuid
        if "integer" in kinds and "number" not in kinds:
            return _integer
        return _text if kinds == ("string",) else self.guard


def _chain(nodes: list[Node], value: Any, depth: int) -> Any:
    for node in nodes:
        value = node(value, depth)
    return value


def _rest(patterns: list[tuple[Callable[[str], bool], Node]], additional: Node, name: str) -> Node:
    found = [node for matches, node in patterns if matches(name)]
    if not found:
        return additional
    return found[0] if len(found) == 1 else partial(_chain, found)


def _walk_object(
    children: Mapping[str, Node],
    defaults: Mapping[str, Any],
    rest: Callable[[str], Node] | None,
    otherwise: Node,
    value: Any,
    depth: int,
) -> Any:
    if not isinstance(value, Mapping):
        return otherwise(value, depth)
    result = walk_mapping(value, depth, children, rest)
    for name, default in defaults.items():
        if name not in result:
            if result is value:
                result = dict(value)
            result[name] = deepcopy(default) if isinstance(default, (dict, list)) else default
    return result


def _walk_array(node_at: Callable[[int], Node] | None, otherwise: Node, value: Any, depth: int) -> Any:
    if not isinstance(value, (list, tuple)):
        return otherwise(value, depth)
    return walk_list(value, depth, node_at)


def _text(value: Any, depth: int) -> Any:
    # Almost every text ends here; the rest is looked at closely.
    if type(value) is str and value.isascii() and "\0" not in value and len(value) <= MAX_TEXT:
        return value
    return guard(value, depth)


def _integer(value: Any, depth: int) -> Any:
    """JSON has one kind of number: 3.0 is the integer 3, and is stored and compared as one."""
    if type(value) is int and MIN_INTEGER <= value <= MAX_INTEGER:
        return value
    if type(value) is float and value.is_integer():
        value = int(value)
    return guard(value, depth)


def _decimal(rule: DecimalRule, value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    try:
        return rule.read(value) if isinstance(value, (str, int, float, Decimal)) else guard(value, depth)
    except UnfitDecimal as error:
        raise Unfit.here(str(error), None) from None


def _uuid(value: Any, depth: int) -> Any:
    if isinstance(value, UUID):
        return value.hex
    return uuid_hex(text(value)) if type(value) is str else guard(value, depth)


def _holds_key(value: Any, keys: tuple[str, ...]) -> bool:
    if isinstance(value, Mapping):
        return any(key in value for key in keys) or any(_holds_key(part, keys) for part in value.values())
    return isinstance(value, list) and any(_holds_key(part, keys) for part in value)
