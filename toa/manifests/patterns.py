"""Patterns mean one thing: what the compiled validator says they mean (ECMA 262), also in the written report."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import jsonschema_rs

MAX_PATTERN = 1_000


class UnfitPattern(ValueError):
    """A pattern that cannot be used."""


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a text matches the pattern somewhere. Raises UnfitPattern."""
    if len(pattern) > MAX_PATTERN:
        raise UnfitPattern(f"a pattern of {len(pattern)} characters is too long")
    try:
        return jsonschema_rs.Draft7Validator({"pattern": pattern}).is_valid
    except (jsonschema_rs.ValidationError, ValueError):
        raise UnfitPattern(f"{pattern!r} is no regular expression of ECMA 262") from None


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that the validator or Python's `re` cannot compile: forms and admin use the latter."""
    matcher(pattern)
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnfitPattern(f"{pattern!r} is no regular expression for Python: {error}") from None
