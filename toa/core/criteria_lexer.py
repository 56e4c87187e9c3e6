"""Reading the text of criteria piece by piece. What a piece may be depends on its place: the parser asks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toa.core.criteria_nodes import Operator
from toa.core.nearest import did_you_mean
from toa.exceptions import InvalidQuery

MAX_LENGTH = 4096
"""Characters of criteria."""

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What no text in the database holds."""

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[\w-]+")
_OPERATOR = re.compile(r"=\w*=|!=|<=|>=|<|>")
_BARE = re.compile(r"[^\s\"'();,=!~<>]+")
_ALIASES = {"=lt=": "<", "=le=": "<=", "=gt=": ">", "=ge=": ">=", "=eq=": "==", "=ne=": "!=", "=neq=": "!="}


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A value as written. Quotes and escapes are gone from `text`."""

    text: str
    quoted: bool
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A property's name and, behind dots, keys into the object it holds."""

    name: str
    path: tuple[str, ...]
    position: int


class Scanner:
    """A place in the text, moved on by what is read from there. Space between pieces means nothing.

    Raises `InvalidQuery` with the position, counted in characters from 0.
    """

    __slots__ = ("position", "text")

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise InvalidQuery(f"criteria of {len(text)} characters; {MAX_LENGTH} at most", position=MAX_LENGTH)
        unstorable = UNSTORABLE.search(text)
        if unstorable is not None:
            raise InvalidQuery(
                f"the character U+{ord(unstorable.group()):04X} cannot be stored, so nothing equals it",
                position=unstorable.start(),
            )
        self.text = text
        self.position = 0

    def space(self) -> None:
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def at_end(self) -> bool:
        self.space()
        return self.position >= len(self.text)

    def take(self, symbol: str) -> bool:
        """Move past `symbol` if it comes next."""
        self.space()
        if not self.text.startswith(symbol, self.position):
            return False
        self.position += len(symbol)
        return True

    def selector(self) -> Selector:
        self.space()
        start = self.position
        found = _NAME.match(self.text, start)
        if found is None:
            raise self.unexpected("a property")
        self.position = found.end()
        path = []
        while self.text.startswith(".", self.position):
            self.position += 1
            path.append(self._key())
        return Selector(name=found.group(), path=tuple(path), position=start)

    def operator(self) -> Operator:
        self.space()
        found = _OPERATOR.match(self.text, self.position)
        if found is None:
            raise self.unexpected("an operator", hint=f"one of {' '.join(Operator)}")
        written = found.group()
        if written not in set(Operator):
            alias = _ALIASES.get(written)
            hint = f"write {alias}" if alias else did_you_mean(written, list(Operator))
            raise InvalidQuery(f"no operator {written}", position=self.position, hint=hint)
        self.position = found.end()
        return Operator(written)

    def literal(self) -> Literal:
        self.space()
        start = self.position
        quote = self.text[start : start + 1]
        if quote in ("'", '"') and quote:
            return Literal(text=self._quoted(quote), quoted=True, position=start)
        found = _BARE.match(self.text, start)
        if found is None:
            raise self.unexpected("a value", hint="quote a value that holds spaces or any of \"'();,=!~<>")
        self.position = found.end()
        return Literal(text=found.group(), quoted=False, position=start)

    def unexpected(self, wanted: str, *, hint: str = "") -> InvalidQuery:
        """The refusal of what comes next, where `wanted` should."""
        found = repr(self.text[self.position]) if self.position < len(self.text) else "the end"
        return InvalidQuery(f"{wanted} is expected, not {found}", position=self.position, hint=hint)

    def _key(self) -> str:
        quote = self.text[self.position : self.position + 1]
        if quote in ("'", '"') and quote:
            return self._quoted(quote)
        found = _NAME.match(self.text, self.position)
        if found is None:
            raise self.unexpected("a key behind the dot", hint="quote a key that is not letters, digits, _ and -")
        self.position = found.end()
        return found.group()

    def _quoted(self, quote: str) -> str:
        start, i = self.position, self.position + 1
        read: list[str] = []
        while i < len(self.text):
            char = self.text[i]
            if char == quote:
                self.position = i + 1
                return "".join(read)
            if char == "\\":
                i += 1
                if i == len(self.text):
                    break
            read.append(self.text[i])
            i += 1
        raise InvalidQuery("a quote that is opened and never closed", position=start, hint=f"close it with {quote}")
