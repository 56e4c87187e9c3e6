"""A text file as lines, read from its bytes: in bounded memory, and one broken line harms no other."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LONGEST = 65_536
"""Bytes of a line. A longer one is passed over without being held."""

_WIDE = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


class UnreadableFile(Exception):
    """The file as a whole cannot be used. The message is a sentence for whoever made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, without its end."""

    number: int
    """Counted from 1."""
    text: str
    problem: str = ""
    """Why it cannot be read; then there is no text."""
    end: int
    """Bytes of the file up to and with this line."""


def read_lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a UTF-8 file, with or without a byte order mark. Raises UnreadableFile for UTF-16."""
    number = end = 0
    while raw := file.readline(LONGEST + 1):
        number += 1
        end += len(raw)
        if number == 1:
            raw = _without_mark(raw)
        if len(raw) > LONGEST:
            end += _pass_over(file, raw)
            yield Line(number=number, text="", problem=f"longer than {LONGEST} bytes", end=end)
        else:
            yield _line(number, raw.rstrip(b"\r\n"), end)


def _line(number: int, raw: bytes, end: int) -> Line:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Line(number=number, text="", problem=f"broken UTF-8 at byte {error.start + 1} of the line", end=end)
    for place, character in enumerate(text, start=1):
        if character < " " and character != "\t":
            problem = f"control character U+{ord(character):04X} at character {place} of the line"
            return Line(number=number, text="", problem=problem, end=end)
    return Line(number=number, text=text, end=end)


def _without_mark(raw: bytes) -> bytes:
    for mark, name in _WIDE.items():
        if raw.startswith(mark):
            raise UnreadableFile(f"it is {name}; save it as UTF-8")
    return raw.removeprefix(codecs.BOM_UTF8)


def _pass_over(file: BinaryIO, raw: bytes) -> int:
    """Read on to the end of a line that is too long; returns the number of bytes."""
    passed = 0
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(LONGEST)
        passed += len(raw)
    return passed
