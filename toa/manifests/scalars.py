"""Plain scalars, read the way JSON reads them and in no other.

Special are `true`, `false`, `null`, `~`, nothing at all, and JSON's numbers. Everything else is text, `no`, `012`,
`0x10`, `1_000`, `12:30:00` and dates included. YAML's infinities and not-a-number have no place in a manifest.
"""

from __future__ import annotations

import math
import re

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.inf\Z|\.nan\Z", re.IGNORECASE)
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_MAX_DIGITS = 400

Scalar = str | int | float | bool | None


class UnfitScalar(ValueError):
    """A plain scalar that means no value a manifest may hold."""


def plain(text: str) -> Scalar:
    """The value of a plain (unquoted) scalar. Raises `UnfitScalar` for numbers that are not finite or far too long."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if not (first.isdigit() or first in "-+."):
        return text
    if len(text) <= _MAX_DIGITS:
        if _INTEGER.match(text):
            return int(text)
        if _FLOAT.match(text):
            number = float(text)
            if not math.isfinite(number):
                raise UnfitScalar(f"the number {text} is out of range")
            return number
    elif _FLOAT.match(text):
        raise UnfitScalar(f"a number of {len(text)} characters is too long")
    if _NOT_FINITE.match(text):
        raise UnfitScalar(f"{text} is not a number that a manifest may hold")
    return text
