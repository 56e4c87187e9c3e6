"""CSV with a header, as people's programs export it: the delimiter is found, unknown columns are named.

A record is one line. A quoted field that goes on into the next line is refused, so that a forgotten quote costs its
own line and not the rest of the file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from shop.lines import Line, UnreadableFile, read_lines

DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record: its cells by column, or why it cannot be read."""

    number: int
    """Of its line in the file, counted from 1."""
    cells: Mapping[str, str]
    problem: str = ""
    end: int
    """Bytes of the file up to and with this record."""


class Sheet:
    """A file's header, and its records as they are read one by one."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        """Read the header; `columns` are those that must be there.

        Raises UnreadableFile where one is missing or stands twice, or where there is no header.
        """
        self._columns = columns
        self._lines = read_lines(file)
        header = self._first()
        self.delimiter = max(DELIMITERS, key=lambda delimiter: len(set(_names(header, delimiter)) & set(columns)))
        names = _names(header, self.delimiter)
        self._width = len(names)
        self._places = {name: names.index(name) for name in columns if name in names}
        missing = [name for name in columns if name not in names]
        if missing:
            there = _listed([name for name in names if name]) or "none"
            raise UnreadableFile(f"line {header.number}, the header, has no column {_listed(missing)}; it has {there}")
        twice = sorted({name for name in columns if names.count(name) > 1})
        if twice:
            raise UnreadableFile(f"line {header.number}, the header, has twice the column {_listed(twice)}")
        self.ignored = tuple(name for name in names if name and name not in columns)
        """Columns that nobody asked for."""

    def __iter__(self) -> Iterator[Row]:
        for line in self._lines:
            if line.problem:
                yield Row(number=line.number, cells={}, problem=line.problem, end=line.end)
                continue
            try:
                fields = _fields(line.text, self.delimiter)
            except csv.Error as error:
                yield Row(number=line.number, cells={}, problem=_quoting(error), end=line.end)
                continue
            if any(fields):
                yield self._row(line, fields)

    def _row(self, line: Line, fields: list[str]) -> Row:
        while len(fields) > self._width and not fields[-1]:
            fields.pop()
        if len(fields) != self._width:
            problem = f"{len(fields)} fields where the header has {self._width}"
            return Row(number=line.number, cells={}, problem=problem, end=line.end)
        cells = {name: fields[place] for name, place in self._places.items()}
        return Row(number=line.number, cells=cells, end=line.end)

    def _first(self) -> Line:
        for line in self._lines:
            if line.problem:
                raise UnreadableFile(f"line {line.number}, where the header should be, has a {line.problem}")
            if line.text.strip():
                return line
        raise UnreadableFile(f"it is empty; its first line should name the columns {_listed(self._columns)}")


def _names(header: Line, delimiter: str) -> list[str]:
    try:
        return [name.lower() for name in _fields(header.text, delimiter)]
    except csv.Error:
        return []


def _fields(text: str, delimiter: str) -> list[str]:
    for fields in csv.reader([text], delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t"):
        return [field.strip() for field in fields]
    return []


def _quoting(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "a quote is opened and not closed on the line"
    return f"its quotes do not fit together: {error}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
