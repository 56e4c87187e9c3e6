"""Reads one field of a cron expression, strictly: what it says no to, cron parsers disagree about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from toa.exceptions import InvalidSchedule

_ITEM = re.compile(r"(?P<low>\*|[0-9a-z]+)(?:-(?P<high>[0-9a-z]+))?(?:/(?P<step>[0-9]{1,4}))?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,4}")
_FOREIGN = re.compile(r"[?#@]|\b(?:[0-9]*[LW]+[0-9]*|[HR])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One of the six kinds of field: its name, its range, and the names its values may go by."""

    name: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)
    alias: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What a field allows: its values, rising, and whether it was written `*` or `*/k`."""

    values: tuple[int, ...]
    star: bool


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

SECOND = Kind(name="second", low=0, high=59)
MINUTE = Kind(name="minute", low=0, high=59)
HOUR = Kind(name="hour", low=0, high=23)
DAY = Kind(name="day of month", low=1, high=31)
MONTH = Kind(name="month", low=1, high=12, names={name: n for n, name in enumerate(_MONTHS, start=1)})
# Sunday is 0, and 7 as well, so that 5-7 is a range.
WEEKDAY = Kind(name="day of week", low=0, high=6, names={name: n for n, name in enumerate(_WEEKDAYS)}, alias={7: 0})


def read_field(kind: Kind, text: str) -> Field:
    """The values that a field's text allows.

    Accepted: `*`, `*/k`, and lists of numbers, names, ranges `a-b` and stepped ranges `a-b/k`. Raises
    InvalidSchedule, naming the field, for everything else: an empty item, a value or step out of range, a
    backward range, a step without a range, `*` in a list, and the extensions of other parsers.
    """
    items = text.split(",")
    values: set[int] = set()
    for item in items:
        parts = _ITEM.fullmatch(item)
        if parts is None:
            raise _refusal(kind, text, _why_unreadable(kind, item), hint=_hint_for(item))
        low, high, step = parts["low"], parts["high"], parts["step"]
        if low == "*":
            if high is not None:
                raise _refusal(kind, text, "* has no range")
            if len(items) > 1:
                raise _refusal(kind, text, "* cannot stand in a list", hint=_written_out(kind, step))
            first, last = kind.low, kind.high
        else:
            first = _value(kind, text, low)
            last = first if high is None else _value(kind, text, high)
            if step is not None and high is None:
                raise _refusal(
                    kind, text, "a step needs * or a range before it", hint=f"write {low}-{kind.high}/{step}"
                )
            if last < first:
                raise _refusal(kind, text, f"the range {low}-{high} runs backward", hint=_forward(kind, first, last))
        stride = _stride(kind, text, first, last, step)
        values.update(kind.alias.get(value, value) for value in range(first, last + 1, stride))
    return Field(values=tuple(sorted(values)), star=text.startswith("*"))


def _value(kind: Kind, text: str, word: str) -> int:
    named = kind.names.get(word.lower())
    if named is not None:
        return named
    if not _NUMBER.fullmatch(word):
        raise _refusal(kind, text, _why_unreadable(kind, word), hint=_hint_for(word))
    number = int(word)
    if not (kind.low <= number <= kind.high or number in kind.alias):
        raise _refusal(kind, text, f"{number} is outside {_range_of(kind)}")
    return number


def _stride(kind: Kind, text: str, first: int, last: int, step: str | None) -> int:
    if step is None:
        return 1
    stride = int(step)
    if stride == 0:
        raise _refusal(kind, text, "the step is 0")
    if stride > last - first:
        # Other parsers let it pass, and it means one value, which is never what was wanted.
        raise _refusal(
            kind,
            text,
            f"the step {stride} is beyond the range {first}-{last}",
            hint=f"only {first} would be left",
        )
    return stride


def _refusal(kind: Kind, text: str, why: str, *, hint: str = "") -> InvalidSchedule:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return InvalidSchedule(f"{kind.name} field {shown!r}: {why}", hint=hint)


def _why_unreadable(kind: Kind, item: str) -> str:
    if not item:
        return "an item of the list is empty"
    if item.startswith("-"):
        return "a value cannot be negative"
    return f"{item[:20]!r} is no value of {_range_of(kind)}"


def _hint_for(item: str) -> str:
    if item == "?":
        return "write *"
    if _FOREIGN.search(item):
        return "L, W, #, ?, H, R and @ are extensions of other schedulers"
    return ""


def _range_of(kind: Kind) -> str:
    numbers = f"{kind.low}-{max(kind.high, *kind.alias) if kind.alias else kind.high}"
    if not kind.names:
        return numbers
    return f"{numbers} or {next(iter(kind.names))}-{list(kind.names)[-1]}"


def _written_out(kind: Kind, step: str | None) -> str:
    return f"write {kind.low}-{kind.high}" + (f"/{step}" if step else "")


def _forward(kind: Kind, first: int, last: int) -> str:
    for seven, zero in kind.alias.items():
        if last == zero:
            return f"write {first}-{seven}"
    return f"write {first}-{kind.high},{kind.low}-{last}"
