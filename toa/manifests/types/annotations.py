"""From JSON Schemas to annotations: what an operation gets, and what may be given to it.

A value passes through a `Checker` between the two: defaults are filled in, decimals become `Decimal`, mappings become
records with attribute access. So one schema has two annotations, and an object two classes.
"""

from __future__ import annotations

import json
import keyword
from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import Any

from toa.core.specs import Schema
from toa.manifests.types.source import Module, camel, constant, union

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_LONGEST_LITERAL = 60
"""Characters of a property's name for which `get` has a type of its own."""
_METHODS = frozenset(dir(dict))
"""Names that are methods of every mapping: such a key is reached as an item only."""


class Annotations(ABC):
    """Writes annotations for schemas, and the classes that they need into a module."""

    decimal = "Decimal"

    def __init__(self, module: Module) -> None:
        self.module = module

    def of(self, schema: Any, name: str) -> str:
        """The annotation of a schema; `name` is what a class for it would be called."""
        key = f"{type(self).__name__} {name} {json.dumps(schema, sort_keys=True, default=str)}"
        if key not in self.module.known:
            self.module.known[key] = self._of(schema, name)
        return self.module.known[key]

    def _of(self, schema: Any, name: str) -> str:
        if not isinstance(schema, Mapping) or "$ref" in schema:
            return self.any()
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if values is not None and all(value is None or isinstance(value, (str, int)) for value in values):
            return self.module.literal(values, name)
        kinds = schema.get("type")
        if kinds is None:
            choice = schema.get("anyOf") or schema.get("oneOf")
            return union(self.of(part, name) for part in choice) if choice else self.any()
        # What stands beside a type only narrows it.
        return union(self._of_kind(kind, schema, name) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def any(self) -> str:
        self.module.use("typing", "Any")
        return "Any"

    def typed_dict(self, schema: Schema, name: str, doc: str, needed: Set[str]) -> str:
        """A class for a plain dictionary; what is not needed may be left out."""
        module, name = self.module, self.module.name(name)
        members = []
        for prop, part in schema["properties"].items():
            if prop not in needed:
                module.use("typing", "NotRequired")
            annotation = self.of(part, f"{name}{camel(prop)}")
            members.append(module.attribute(prop, annotation, "" if prop in needed else "NotRequired"))
        module.use("typing", "TypedDict")
        module.define(name, ["TypedDict"], doc, members)
        return name

    @abstractmethod
    def list_of(self, item: str) -> str:
        """A list."""

    @abstractmethod
    def mapping_of(self, value: str) -> str:
        """An object without declared properties."""

    @abstractmethod
    def object(self, schema: Schema, name: str) -> str:
        """An object with declared properties."""

    def _of_kind(self, kind: str, schema: Schema, name: str) -> str:
        if kind == "array":
            items = schema.get("items", {})
            return self.list_of(self.of(items, f"{name}Item") if isinstance(items, Mapping) else self.any())
        if kind == "object":
            if schema.get("properties"):
                return self.object(schema, name)
            rest = schema.get("additionalProperties", {})
            return self.mapping_of(self.of(rest, f"{name}Value") if isinstance(rest, Mapping) else self.any())
        if schema.get("format") == "decimal" and kind == "number":
            self.module.use("decimal", "Decimal")
            return self.decimal
        return _PLAIN[kind]


class Received(Annotations):
    """What a function gets as input, and a caller as reply: records, lists, decimals."""

    def list_of(self, item: str) -> str:
        return f"list[{item}]"

    def mapping_of(self, value: str) -> str:
        return f"dict[str, {value}]"

    def object(self, schema: Schema, name: str) -> str:
        return self.define(schema, name, "A record.")

    def define(self, schema: Schema, name: str, doc: str) -> str:
        """A protocol with an attribute for each property that is always there; the others are asked for by `get`."""
        module, name = self.module, self.module.name(name)
        always, perhaps = [], {}
        for prop, part in schema.get("properties", {}).items():
            annotation = self.of(part, f"{name}{camel(prop)}")
            if prop not in schema.get("required", ()) and not (isinstance(part, Mapping) and "default" in part):
                perhaps[prop] = annotation
            elif is_attribute(prop):
                always.append(module.attribute(prop, annotation))
        gets = self._get(perhaps) if perhaps else []
        module.use("toa.typing", "Item")
        module.use("typing", "Protocol")
        module.define(name, ["Item", "Protocol"], doc, [*always, *gets])
        return name

    def _get(self, perhaps: Mapping[str, str]) -> list[list[str]]:
        perhaps = {prop: kind for prop, kind in perhaps.items() if len(constant(prop)) <= _LONGEST_LITERAL}
        self.module.use("typing", "Any")
        last = ["self", "name: str", "default: Any = None", "/"]
        if not perhaps:
            return [self.module.method("get", last, "Any")]
        self.module.use("typing", "Literal", "overload")
        found = [
            self.module.method(
                "get", ["self", f"name: Literal[{constant(prop)}]", "/"], union([kind, "None"]), overload=True
            )
            for prop, kind in perhaps.items()
        ]
        return [*found, self.module.method("get", last, "Any", overload=True)]


class Given(Annotations):
    """What may be given as input or returned as reply: plain mappings and sequences."""

    decimal = "Decimal | str"

    def list_of(self, item: str) -> str:
        self.module.use("collections.abc", "Sequence")
        return f"Sequence[{item}]"

    def mapping_of(self, value: str) -> str:
        self.module.use("collections.abc", "Mapping")
        return f"Mapping[str, {value}]"

    def object(self, schema: Schema, name: str) -> str:
        return self.define(schema, name, "A mapping.")

    def define(self, schema: Schema, name: str, doc: str) -> str:
        """A typed dictionary; properties that may be left out are `NotRequired`."""
        if not all(is_name(prop) for prop in schema["properties"]):
            return self.mapping_of(self.any())
        needed = {prop for prop in schema["properties"] if is_needed(schema, prop)}
        return self.typed_dict(schema, name, doc, needed)


class Stored(Received):
    """What drafts hold of objects and lists: plain dictionaries and lists, which a function may change."""

    def object(self, schema: Schema, name: str) -> str:
        if schema.get("additionalProperties") is not False or not all(is_name(prop) for prop in schema["properties"]):
            return self.mapping_of(self.any())
        return self.typed_dict(schema, name, "A mapping.", set(schema.get("required", ())))


def is_needed(schema: Schema, prop: str) -> bool:
    """Whether a caller must give a property: it is required, and has no default."""
    part = schema["properties"][prop]
    return prop in schema.get("required", ()) and not (isinstance(part, Mapping) and "default" in part)


def is_name(prop: str) -> bool:
    """Whether a property can be written as a name in Python."""
    return prop.isidentifier() and not keyword.iskeyword(prop) and not prop.startswith("__")


def is_attribute(prop: str) -> bool:
    """Whether a property of a record can be read as an attribute."""
    return is_name(prop) and prop not in _METHODS
