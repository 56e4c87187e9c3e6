"""Time zones: strict names, and the moments at which a zone's clocks change.

Names and rules come from the pinned tzdata package, never from the host: every process of a deployment, and
every developer's machine, decides by one version.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from toa.core.clock import EPOCH
from toa.exceptions import InvalidZone

# "Factory" is tzdata's placeholder for a machine nobody has set up.
_NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})
# Two changes of one zone are nearly a week apart at least (a test holds tzdata to it): this misses none.
_PROBE_STEP_S = 3 * 86_400
_OFFSET_NAME = re.compile(r"(?:UTC|GMT)([+-])([0-9]{1,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A zone's clocks are set: at `at` (epoch s) the offset goes from `before` to `after` (s east of UTC)."""

    at: int
    before: int
    after: int


@cache
def zone_names() -> frozenset[str]:
    """The names of the tz database that may be used."""
    listed = files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return frozenset(listed) - _NOT_ZONES


def check_zone(name: object) -> str:
    """The name itself, when it is in the tz database. Raises InvalidZone with the nearest name otherwise."""
    if not isinstance(name, str):
        raise InvalidZone(f"a time zone is a name, not {type(name).__name__}", hint="such as Europe/Berlin or UTC")
    if not name:
        raise InvalidZone("the time zone is empty", hint="such as Europe/Berlin or UTC")
    if name not in zone_names():
        shown = name if len(name) <= 60 else name[:57] + "..."
        raise InvalidZone(f"there is no time zone {shown!r} in the tz database", hint=_nearest(name[:60]))
    return name


@cache
def load_zone(name: str) -> ZoneInfo:
    """The rules of a zone of the tz database. Raises InvalidZone for any other name."""
    check_zone(name)
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as stream:
        return ZoneInfo.from_file(stream, key=name)


def offset_at(name: str, second: int) -> int:
    """Seconds east of UTC that the zone's clocks show at a moment in epoch seconds."""
    return _offset(load_zone(name), second)


def first_change(name: str, after: int, until: int) -> Change | None:
    """A zone's first change of offset after one moment and at or before another, in epoch seconds."""
    return next(_changes_between(name, after, until), None)


def last_change(name: str, after: int, until: int) -> Change | None:
    """A zone's last change of offset after one moment and at or before another, in epoch seconds."""
    return next(reversed(list(_changes_between(name, after, until))), None)


def _changes_between(name: str, after: int, until: int) -> Iterator[Change]:
    for year in range(_year_of(after), _year_of(until) + 1):
        for change in _changes_of_year(name, year):
            if after < change.at <= until:
                yield change


@lru_cache(maxsize=8192)
def _changes_of_year(name: str, year: int) -> tuple[Change, ...]:
    """The changes in one year of UTC. zoneinfo keeps its table to itself, so it is asked for offsets."""
    zone = load_zone(name)
    start = _second_of(datetime(year, 1, 1, tzinfo=UTC)) - 1
    stop = _second_of(datetime(year + 1, 1, 1, tzinfo=UTC)) - 1
    changes = []
    known, offset = start, _offset(zone, start)
    while known < stop:
        probe = min(known + _PROBE_STEP_S, stop)
        found = _offset(zone, probe)
        if found != offset:
            changes.append(Change(at=_bisect(zone, known, probe, offset), before=offset, after=found))
        known, offset = probe, found
    return tuple(changes)


def _bisect(zone: ZoneInfo, low: int, high: int, offset: int) -> int:
    """The first second after `low` at which the offset is no longer `offset`; at `high` it is not."""
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, middle) == offset:
            low = middle
        else:
            high = middle
    return high


def _offset(zone: ZoneInfo, second: int) -> int:
    shown = (EPOCH + timedelta(seconds=second)).astimezone(zone).utcoffset()
    assert shown is not None  # a ZoneInfo always knows
    return shown // timedelta(seconds=1)


def _year_of(second: int) -> int:
    return (EPOCH + timedelta(seconds=second)).year


def _second_of(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(seconds=1)


def _nearest(name: str) -> str:
    offset = _OFFSET_NAME.fullmatch(name)
    if offset:
        sign, hours = offset.groups()
        reversed_sign = "-" if sign == "+" else "+"
        candidate = f"Etc/GMT{reversed_sign}{int(hours)}"
        if candidate in zone_names():
            return f"name a place, or write {candidate}: its sign counts west"
    wanted = name.casefold().replace(" ", "_")
    by_folded = {known.casefold(): known for known in sorted(zone_names())}
    by_place = {folded.rsplit("/", 1)[-1]: known for folded, known in sorted(by_folded.items(), reverse=True)}
    for names in (by_folded, by_place):
        if wanted in names:
            return f"did you mean {names[wanted]}?"
    close = difflib.get_close_matches(wanted, by_folded, n=1) or difflib.get_close_matches(wanted, by_place, n=1)
    if close:
        return f"did you mean {by_folded.get(close[0]) or by_place[close[0]]}?"
    return "such as Europe/Berlin or UTC"
