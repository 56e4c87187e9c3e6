"""Where a verb of `manage.py toa` writes: sentences for a person, or one JSON document for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import OutputWrapper

from toa.core.identity import plain


class Console:
    """Standard output and standard error of a command. `as_json` is whether `--json` was given."""

    def __init__(self, out: OutputWrapper, err: OutputWrapper, *, as_json: bool) -> None:
        self.out = out
        self.err = err
        self.as_json = as_json

    def say(self, text: str = "") -> None:
        """A line on standard output."""
        self.out.write(text)

    def complain(self, text: str) -> None:
        """A line on standard error."""
        self.err.write(text)

    def document(self, value: Any) -> None:
        """A JSON document. Decimals are written as text, UUIDs as 32 hex digits."""
        self.out.write(json.dumps(value, indent=2, default=plain, ensure_ascii=False, allow_nan=False))

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Names and values: a JSON object where one was asked for, else one line."""
        if self.as_json:
            self.out.write(json.dumps(dict(facts), default=plain))
        else:
            self.out.write(", ".join(f"{name} {value}" for name, value in facts.items()))

    def more(self, after: str | None) -> None:
        """How to see the page after this one, where there is one."""
        if after:
            self.say(f"more: --after {after}")

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows under their headings, in columns as wide as what stands in them."""
        lines = [list(headings), *([str(cell) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            self.say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
