"""Periods: the name of the day, week, month, quarter or year that a moment falls into, in a zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from toa.core.clock import to_datetime
from toa.core.moments import check_moment
from toa.core.zones import load_zone
from toa.exceptions import InvalidMoment, InvalidPeriod


def _week(local: datetime) -> str:
    year, week, _ = local.isocalendar()
    return f"{year:04}-W{week:02}"


_NAMES: dict[str, Callable[[datetime], str]] = {
    "day": lambda local: f"{local.year:04}-{local.month:02}-{local.day:02}",
    "week": _week,
    "month": lambda local: f"{local.year:04}-{local.month:02}",
    "quarter": lambda local: f"{local.year:04}-Q{(local.month + 2) // 3}",
    "year": lambda local: f"{local.year:04}",
}


def period(kind: str, moment_ms: int, zone: str = "UTC") -> str:
    """The name of the period that a moment in epoch ms falls into, by the calendar of a zone.

    `kind` is `day` ("2026-10-31"), `week` (ISO 8601, "2026-W44", whose year may differ from the month's),
    `month` ("2026-10"), `quarter` ("2026-Q4") or `year` ("2026"). Names of one kind sort as their periods do.
    There is no `hour`: where clocks are set back, two hours of one day have the same name.

    Raises InvalidPeriod for another kind, InvalidMoment for a moment outside the calendar, InvalidZone for a
    zone.

    >>> period("month", 1_793_480_400_000, zone="Asia/Tokyo")
    '2026-11'
    """
    name = _NAMES.get(kind) if isinstance(kind, str) else None
    if name is None:
        shown = repr(kind[:40]) if isinstance(kind, str) else f"of type {type(kind).__name__}"
        raise InvalidPeriod(f"there is no period {shown}", hint=f"one of {', '.join(_NAMES)}")
    rules = load_zone(zone)
    moment = to_datetime(check_moment(moment_ms))
    try:
        local = moment.astimezone(rules)
    except OverflowError:
        raise InvalidMoment(f"moment: {moment_ms} ms is outside the years 1 to 9999 in {zone}") from None
    return name(local)
