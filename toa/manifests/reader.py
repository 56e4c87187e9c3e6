"""Strict YAML to plain data, with the position of every key and value.

The document is built from PyYAML's events, without recursion and without its resolvers: nesting is bounded, anchors,
aliases and tags are refused where they stand, and no scalar turns into a date, a sexagesimal or an octal number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from toa.manifests.document import Document, Path, Position, where
from toa.manifests.problems import DUPLICATE_KEY, SYNTAX, UNREADABLE, Problem
from toa.manifests.scalars import UnfitScalar, plain

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 50_000

_START = Position(line=1, column=1)
_MERGE = "<<"
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(source: bytes | str, path: str) -> Document:
    """Read one document. Never raises for what the file holds: problems are in the result."""
    return _Reading(path).read(source)


class _Stop(Exception):
    """Nothing after this place can be read."""


@dataclass(slots=True)
class _Frame:
    """A mapping or a list that is being filled."""

    path: Path
    items: Any
    key: str | None = None
    drop: bool = False
    """The value to come belongs to a key that is refused."""


class _Reading:
    def __init__(self, path: str) -> None:
        self.path = path
        self.keys: dict[Path, Position] = {}
        self.values: dict[Path, Position] = {}
        self.problems: list[Problem] = []

    def read(self, source: bytes | str) -> Document:
        data = None
        try:
            data = self._build(self._text(source))
        except _Stop:
            data = None
        except yaml.MarkedYAMLError as error:
            self._syntax(error)
        return Document(path=self.path, data=data, keys=self.keys, values=self.values, problems=tuple(self.problems))

    def _problem(self, at: Position, message: str, *, hint: str = "", id: str = SYNTAX, path: Path = ()) -> None:
        self.problems.append(
            Problem(
                path=self.path, line=at.line, column=at.column, where=where(path), message=message, hint=hint, id=id
            )
        )

    def _stop(self, at: Position, message: str, *, hint: str = "", id: str = SYNTAX, path: Path = ()) -> _Stop:
        self._problem(at, message, hint=hint, id=id, path=path)
        return _Stop()

    def _text(self, source: bytes | str) -> str:
        size = len(source) if isinstance(source, bytes) else len(source.encode("utf-8", "surrogatepass"))
        if size > MAX_BYTES:
            raise self._stop(_START, f"the file has {size} bytes, more than {MAX_BYTES}", id=UNREADABLE)
        text = (self._decoded(source) if isinstance(source, bytes) else source).removeprefix("\ufeff")
        unprintable = _UNPRINTABLE.search(text)
        if unprintable:
            code = f"U+{ord(unprintable.group()):04X}"
            at = _at(text, unprintable.start())
            raise self._stop(at, f"character {code} cannot stand in YAML", id=UNREADABLE)
        return text

    def _decoded(self, source: bytes) -> str:
        if source.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise self._stop(_START, "the file is UTF-16", hint="save it as UTF-8", id=UNREADABLE)
        try:
            return source.decode("utf-8")
        except UnicodeDecodeError as error:
            at = _at(source[: error.start].decode("utf-8"), error.start)
            byte = f"byte 0x{source[error.start]:02x}"
            raise self._stop(at, f"{byte} is not UTF-8", hint="save the file as UTF-8", id=UNREADABLE) from None

    def _syntax(self, error: yaml.MarkedYAMLError) -> None:
        at = _of_mark(error.problem_mark or error.context_mark)
        message = str(error.problem or error.context or "the text is not YAML")
        hint = f"{error.context}, from line {error.context_mark.line + 1}" if error.context_mark else ""
        if "\\t" in message or "cannot start any token" in message or "tab" in message:
            hint = "indent with spaces, not tabs; quote text that begins with @, ` or %"
        elif "mapping values are not allowed" in message:
            hint = "quote text that holds ': '"
        self._problem(at, message, hint=hint)

    def _build(self, text: str) -> Any:
        """Plain data from events. A frame for each open mapping or list; the root lands in `result`."""
        result: Any = None
        frames: list[_Frame] = []
        nodes = documents = 0
        for event in yaml.parse(text, Loader=_LOADER):
            at = _of_mark(event.start_mark)
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._problem(at, "a second document begins here", hint="a manifest is one document")
                    break
                continue
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                frames.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            frame = frames[-1] if frames else None
            if frame is not None and isinstance(frame.items, dict) and frame.key is None:
                self._key(frame, event, at)
                continue
            path = self._place(frame)
            nodes += 1
            if nodes > MAX_NODES:
                raise self._stop(at, f"more than {MAX_NODES} values", id=UNREADABLE, path=path)
            self.values.setdefault(path, at)
            value = self._value(event, at, path)
            if frame is None:
                result = value
            elif isinstance(frame.items, list):
                frame.items.append(value)
            else:
                if not frame.drop:
                    frame.items[frame.key] = value
                frame.key, frame.drop = None, False
            if isinstance(value, (dict, list)):
                if len(frames) >= MAX_DEPTH:
                    raise self._stop(at, f"nested deeper than {MAX_DEPTH} levels", id=UNREADABLE)
                frames.append(_Frame(path=path, items=value))
        return result

    @staticmethod
    def _place(frame: _Frame | None) -> Path:
        if frame is None:
            return ()
        if isinstance(frame.items, list):
            return (*frame.path, len(frame.items))
        assert frame.key is not None
        return (*frame.path, frame.key)

    def _key(self, frame: _Frame, event: Any, at: Position) -> None:
        """Keys are text, whatever they look like: `no: 1` has the key `no`."""
        if not isinstance(event, yaml.ScalarEvent):
            hint = "an alias is not read; write the key" if isinstance(event, yaml.AliasEvent) else ""
            raise self._stop(at, "a key must be text", hint=hint, path=frame.path)
        key: str = event.value
        path = (*frame.path, key)
        self._marked(event, at, path)
        if key == _MERGE:
            self._problem(at, "merge keys are not read", hint="write the keys out", path=path)
            frame.drop = True
        elif key in frame.items:
            first = self.keys[path]
            self._problem(
                at,
                f"the key '{key}' stands twice",
                hint=f"the first is in line {first.line}",
                id=DUPLICATE_KEY,
                path=path,
            )
            frame.drop = True
        else:
            self.keys.setdefault(path, at)
        frame.key = key

    def _value(self, event: Any, at: Position, path: Path) -> Any:
        if isinstance(event, yaml.AliasEvent):
            if path[-1:] != (_MERGE,):
                self._problem(at, f"the alias *{event.anchor} is not read", hint="write the value out", path=path)
            return None
        self._marked(event, at, path)
        if isinstance(event, yaml.MappingStartEvent):
            return {}
        if isinstance(event, yaml.SequenceStartEvent):
            return []
        value: str = event.value
        if not event.implicit[0]:
            return value
        try:
            return plain(value)
        except UnfitScalar as error:
            self._problem(at, str(error), path=path)
            return None

    def _marked(self, event: Any, at: Position, path: Path) -> None:
        """Refuse anchors and tags where they stand."""
        if event.anchor is not None:
            self._problem(at, f"the anchor &{event.anchor} is not read", hint="write the value out", path=path)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._problem(at, f"the tag {tag} is not read", hint="quote a value to make it text", path=path)


def _at(text: str, offset: int) -> Position:
    """The position of a character offset."""
    before = text[:offset]
    return Position(line=before.count("\n") + 1, column=len(before) - (before.rfind("\n") + 1) + 1)


def _of_mark(mark: Any) -> Position:
    """The position of a mark of PyYAML, which counts from 0 and may be missing in an error."""
    return _START if mark is None else Position(line=mark.line + 1, column=mark.column + 1)
