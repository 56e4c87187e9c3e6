"""A Python module written line by line, in the form that a formatter leaves alone.

Nothing is wrapped because of its length alone: what does not fit into 88 characters gets a name of its own, or one
part to a line and a trailing comma, which keeps its form under any longer limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WIDTH = 88
INDENT = "    "
LONGEST_NAME = 60

STANDARD = frozenset({"collections.abc", "decimal", "typing"})
"""The modules of the standard library that may be imported from."""

Members = Sequence[Sequence[str]]
"""The members of a class, each as its lines."""


@dataclass(slots=True)
class Module:
    """What a module imports and defines, in the order of definition."""

    doc: str
    imports: dict[str, set[str]] = field(default_factory=dict)
    blocks: list[list[str]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    known: dict[str, str] = field(default_factory=dict)
    """What was written before and may be used again, by what it stands for."""

    def use(self, module: str, *names: str) -> None:
        """Import names from a module."""
        self.imports.setdefault(module, set()).update(names)

    def name(self, wanted: str) -> str:
        """A name that nothing else in the module has: `wanted` if it is free and not too long."""
        number, name = 1, wanted[:LONGEST_NAME]
        while name in self.taken:
            number += 1
            name = f"{wanted[: LONGEST_NAME - 4]}{number}"
        self.taken.add(name)
        return name

    def define(self, name: str, bases: Sequence[str], doc: str, members: Members) -> None:
        """Add a class. Members of one line stand together, others behind an empty line."""
        lines = [f"class {name}({', '.join(bases)}):", f'{INDENT}"""{doc}"""']
        before = 0
        for member in members:
            if before != 1 or len(member) > 1:
                lines.append("")
            lines += [f"{INDENT}{line}" for line in member]
            before = len(member)
        self.blocks.append(lines)

    def alias(self, wanted: str, annotation: str) -> str:
        """Give an annotation a name; returns the name."""
        self.use("typing", "TypeAlias")
        name = self.name(wanted)
        self.blocks.append(self._alias(name, annotation))
        return name

    def literal(self, values: Sequence[object], wanted: str) -> str:
        """A `Literal` of these values, as an alias where it is long."""
        self.use("typing", "Literal")
        text = f"Literal[{', '.join(constant(value) for value in values)}]"
        if len(text) <= WIDTH // 2:
            return text
        if len(values) == 1:
            return type(values[0]).__name__  # nothing that a formatter would keep broken
        if text not in self.known:
            self.use("typing", "TypeAlias")
            self.known[text] = name = self.name(wanted)
            self.blocks.append(_exploded(f"{name}: TypeAlias = Literal", [constant(value) for value in values]))
        return self.known[text]

    def attribute(self, name: str, annotation: str, wrapper: str = "") -> list[str]:
        """An annotated name in the body of a class; `wrapper` is a qualifier such as `NotRequired`."""
        room = WIDTH - len(f"{INDENT}{name}: {wrapper}[]")
        fitting = self.fit(annotation, room)
        return [f"{name}: {wrapper}[{fitting}]" if wrapper else f"{name}: {fitting}"]

    def readable(self, name: str, annotation: str) -> list[str]:
        """A property that can be read and not set."""
        return ["@property", *self.method(name, ["self"], annotation)]

    def method(self, name: str, parameters: Sequence[str], returns: str, *, overload: bool = False) -> list[str]:
        """A method without a body. Parameters are as they would be written, `/` and `*` included."""
        head = ["@overload"] if overload else []
        line = f"def {name}({', '.join(parameters)}) -> {returns}: ..."
        if len(INDENT) + len(line) <= WIDTH:
            return [*head, line]
        inner = [f"{INDENT}{self._parameter(one)}," for one in parameters]
        returns = self.fit(returns, WIDTH - len(f"{INDENT}) -> : ..."))
        return [*head, f"def {name}(", *inner, f") -> {returns}: ..."]

    def fit(self, annotation: str, room: int) -> str:
        """The annotation, or a short name for it where it is longer than `room`."""
        if len(annotation) <= room or annotation.isidentifier():
            return annotation
        if annotation not in self.known:
            self.known[annotation] = self.alias(f"T{len(self.known)}", annotation)
        return self.known[annotation]

    def text(self) -> str:
        """The source of the module."""
        parts = [[f'"""{self.doc}"""'], ["from __future__ import annotations"]]
        for group in (STANDARD, self.imports.keys() - STANDARD):
            lines = [line for module in sorted(group & self.imports.keys()) for line in self._import(module)]
            if lines:
                parts.append(lines)
        head = "\n\n".join("\n".join(lines) for lines in parts)
        # Sorters of imports want two empty lines before a class, and one before anything else.
        gap = "\n\n\n" if self.blocks[:1] and self.blocks[0][0].startswith("class ") else "\n\n"
        return head + gap + "\n\n\n".join("\n".join(block) for block in self.blocks) + "\n"

    def _alias(self, name: str, annotation: str) -> list[str]:
        line = f"{name}: TypeAlias = {annotation}"
        if len(line) <= WIDTH or annotation.isidentifier():
            return [line]
        self.use("typing", "Any", "Union")
        parts = [part if len(part) < WIDTH - len(INDENT) else "Any" for part in annotation.split(" | ")]
        return _exploded(f"{name}: TypeAlias = Union", parts)

    def _parameter(self, text: str) -> str:
        name, colon, annotation = text.partition(": ")
        if not colon:
            return text
        annotation, equals, default = annotation.partition(" = ")
        room = WIDTH - len(f"{INDENT}{INDENT}{name}: {equals}{default},")
        return f"{name}: {self.fit(annotation, room)}{equals}{default}"

    def _import(self, module: str) -> list[str]:
        names = sorted(self.imports[module], key=_import_order)
        line = f"from {module} import {', '.join(names)}"
        if len(line) <= WIDTH:
            return [line]
        return [f"from {module} import (", *(f"{INDENT}{name}," for name in names), ")"]


def constant(value: object) -> str:
    """A string, an integer, a boolean or None as source, with the quotes that a formatter prefers."""
    if not isinstance(value, str):
        return repr(value)
    # Without its quotes, and with what is no quote escaped.
    inner = json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"')
    quote = "'" if inner.count('"') > inner.count("'") else '"'
    # Unions are taken apart at their bars: one inside a text is written otherwise.
    return quote + inner.replace(quote, f"\\{quote}").replace(" | ", " \\x7c ") + quote


def union(parts: Iterable[str]) -> str:
    """Types joined by `|`, each once, None at the end, nothing beside Any."""
    known = list(dict.fromkeys(part for joined in parts for part in joined.split(" | ")))
    if "Any" in known:
        return "Any"
    known.sort(key=lambda part: part == "None")
    return " | ".join(known)


def camel(name: str) -> str:
    """`count_once` as the name of a class: `CountOnce`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _exploded(head: str, parts: Sequence[str]) -> list[str]:
    return [f"{head}[", *(f"{INDENT}{part}," for part in parts), "]"]


def _import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, each by name."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2, name)
