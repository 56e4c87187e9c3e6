"""Reads the changes of a zone straight from its TZif file, which the product never opens itself."""

from __future__ import annotations

import re
import struct
from calendar import timegm
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import NamedTuple

LAST_YEAR = 2040

_FOOTER = re.compile(
    r"(?:<[^>]+>|[A-Za-z]+)(?P<std>[-+0-9:]+)"
    r"(?:(?:<[^>]+>|[A-Za-z]+)(?P<dst>[-+0-9:]*),(?P<on>[^,]+),(?P<off>[^,]+))?"
)


class Shift(NamedTuple):
    at: int
    before: int
    after: int


def zone_names() -> list[str]:
    listed = files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return [name for name in listed if name != "Factory"]


@cache
def shifts_of(name: str) -> tuple[int, tuple[Shift, ...]]:
    """The first offset of a zone, and every later change of it until the end of 2040."""
    data = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    position = 0
    utc_flags, std_flags, leaps, count, types, letters = _header(data, position)
    # The first block has 32-bit moments; the second, behind it, has all of them in 64 bits.
    position = 44 + count * 5 + types * 6 + letters + leaps * 8 + std_flags + utc_flags
    _, _, _, count, types, _ = _header(data, position)
    position += 44
    moments = struct.unpack(f">{count}q", data[position : position + 8 * count])
    position += 8 * count
    indices = data[position : position + count]
    position += count
    footer = data.rstrip(b"\n").rpartition(b"\n")[2].decode("ascii")
    offsets = [struct.unpack(">l", data[position + 6 * i : position + 6 * i + 4])[0] for i in range(types)]
    shifts = []
    offset = offsets[0]
    for moment, index in zip(moments, indices, strict=True):
        if offsets[index] != offset:
            shifts.append(Shift(moment, offset, offsets[index]))
        offset = offsets[index]
    listed_until = moments[-1] if moments else -(2**62)
    for moment, following in _by_footer(footer):
        if moment > listed_until and following != offset:
            shifts.append(Shift(moment, offset, following))
            offset = following
    return offsets[0], tuple(shifts)


def _by_footer(footer: str) -> list[tuple[int, int]]:
    """The changes of each year, by the rule behind the table: pairs of moment and offset from then on."""
    match = _FOOTER.fullmatch(footer)
    assert match, footer
    if match["on"] is None:
        return []
    standard = -_seconds(match["std"])
    summer = -_seconds(match["dst"]) if match["dst"] else standard + 3600
    changes = []
    for year in range(1970, LAST_YEAR + 1):
        changes.append((_moment(year, match["on"]) - standard, summer))
        changes.append((_moment(year, match["off"]) - summer, standard))
    return sorted(changes)


def _moment(year: int, rule: str) -> int:
    """`M10.5.0/3`: the last (fifth) Sunday of October, three hours after its midnight, as if in UTC."""
    day_rule, _, time = rule.partition("/")
    month, week, weekday = map(int, day_rule.removeprefix("M").split("."))
    first = date(year, month, 1)
    day = first + timedelta(days=(weekday - first.isoweekday()) % 7 + 7 * (week - 1))
    if day.month != month:
        day -= timedelta(days=7)
    return timegm(day.timetuple()) + _seconds(time or "2")


def _seconds(time: str) -> int:
    hours, minutes, seconds = ([*time.lstrip("+-").split(":"), "0", "0"])[:3]
    return (-1 if time.startswith("-") else 1) * (int(hours) * 3600 + int(minutes) * 60 + int(seconds))


def _header(data: bytes, position: int) -> tuple[int, ...]:
    assert data[position : position + 4] == b"TZif"
    return struct.unpack(">6l", data[position + 20 : position + 44])


def offset_at(name: str, second: int) -> int:
    offset, shifts = shifts_of(name)
    for shift in shifts:
        if shift.at > second:
            break
        offset = shift.after
    return offset


def distinct_rules(start: int, stop: int) -> dict[tuple[int, tuple[Shift, ...]], str]:
    """One zone for each distinct course of offsets between two moments."""
    rules: dict[tuple[int, tuple[Shift, ...]], str] = {}
    for name in zone_names():
        within = tuple(shift for shift in shifts_of(name)[1] if start <= shift.at < stop)
        rules.setdefault((offset_at(name, start), within), name)
    return rules
