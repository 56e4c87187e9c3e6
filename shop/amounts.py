"""Figures as people write them: read where there is one way to read them, refused where there are two."""

from __future__ import annotations

import re
from decimal import Decimal

_SIGNED = re.compile(r"([-+]?)([0-9][0-9.,'’\s]*)")
_GROUPED = re.compile(r"[0-9]{1,3}(?P<mark>[.,' ])[0-9]{3}(?:(?P=mark)[0-9]{3})*")
_COUNT = re.compile(r"[-+]?[0-9]{1,18}")


class UnreadableFigure(ValueError):
    """A text that is no figure, or could be two. The message says which."""


def read_amount(text: str) -> Decimal:
    """The amount that a text stands for: `1234.50`, `1,234.50`, `1.234,50`, `1'234.50`, `1 234,50`.

    One mark alone, before three digits, may separate thousands or decimals (`1,234`): that is refused, unless what
    is before it cannot be a group (`0,125`). Raises UnreadableFigure.
    """
    found = _SIGNED.fullmatch(text)
    if found is None:
        raise UnreadableFigure("no amount in figures")
    whole, places = _split(re.sub(r"\s", " ", found[2]).replace("’", "'"))
    if not whole.isdigit() and not _GROUPED.fullmatch(whole):
        raise UnreadableFigure("its thousands are not in groups of three")
    digits = re.sub(r"[.,' ]", "", whole)
    return Decimal(f"{found[1]}{digits}.{places}" if places else f"{found[1]}{digits}")


def read_count(text: str) -> int:
    """The whole number that a text stands for. Raises UnreadableFigure."""
    if not _COUNT.fullmatch(text):
        raise UnreadableFigure("no whole number in plain figures")
    return int(text)


def _split(digits: str) -> tuple[str, str]:
    """What is before the decimal mark, and what is after it, if there is one."""
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return digits, ""
    before, mark, after = digits[:last], digits[last], digits[last + 1 :]
    if mark in before:
        # A decimal mark stands once: these separate thousands.
        return digits, ""
    if not after.isdigit():
        raise UnreadableFigure("no amount in figures")
    if before.isdigit() and len(after) == 3 and len(before) <= 3 and not before.startswith("0"):
        raise UnreadableFigure(f"{before}{after} or {before}.{after}? For the first, write {before}{after}.00")
    return before, after
