from __future__ import annotations

import pytest

from tests.core.moment import ms
from toa.core.period import period
from toa.exceptions import InvalidMoment, InvalidPeriod, InvalidZone


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("day", "2026-10-31"),
        ("week", "2026-W44"),
        ("month", "2026-10"),
        ("quarter", "2026-Q4"),
        ("year", "2026"),
    ],
)
def test_W3_a_period_is_named_by_the_calendar(kind: str, expected: str) -> None:
    assert period(kind, ms("2026-10-31T14:59:59.999")) == expected


def test_W3_the_month_turns_at_the_midnight_of_the_zone() -> None:
    assert period("month", ms("2026-10-31T14:59:59.999"), zone="Asia/Tokyo") == "2026-10"
    assert period("month", ms("2026-10-31T15:00:00"), zone="Asia/Tokyo") == "2026-11"
    assert period("month", ms("2026-11-01T03:59:59"), zone="America/New_York") == "2026-10"


@pytest.mark.parametrize(
    ("moment", "week"),
    [
        ("2026-12-31T12:00:00", "2026-W53"),
        ("2027-01-03T23:59:59", "2026-W53"),
        ("2027-01-04T00:00:00", "2027-W01"),
        ("2024-12-30T00:00:00", "2025-W01"),
    ],
)
def test_a_week_belongs_to_the_year_that_iso_8601_gives_it(moment: str, week: str) -> None:
    assert period("week", ms(moment)) == week


@pytest.mark.parametrize(("month", "quarter"), [(1, 1), (3, 1), (4, 2), (6, 2), (7, 3), (9, 3), (10, 4), (12, 4)])
def test_a_quarter_is_three_months(month: int, quarter: int) -> None:
    assert period("quarter", ms(f"2026-{month:02}-15T00:00:00")) == f"2026-Q{quarter}"


def test_names_of_one_kind_sort_as_their_periods_do() -> None:
    moments = range(ms("0999-06-01T00:00:00"), ms("1002-06-01T00:00:00"), 86_400_000)
    for kind in ("day", "week", "month", "quarter", "year"):
        names = [period(kind, moment) for moment in moments]
        assert names == sorted(names)


@pytest.mark.parametrize("kind", ["hour", "Month", "", "months", None, ["day"]])
def test_an_unknown_period_is_refused(kind: str) -> None:
    with pytest.raises(InvalidPeriod, match="one of day, week, month, quarter, year"):
        period(kind, 0)


@pytest.mark.parametrize("moment", [1.5, True, "2026", None, 10**18, -(10**18), pytest.param(10**5000, id="endless")])
def test_a_moment_that_is_none_is_refused(moment: int) -> None:
    with pytest.raises(InvalidMoment):
        period("month", moment)


def test_a_moment_whose_local_date_leaves_the_calendar_is_refused() -> None:
    with pytest.raises(InvalidMoment, match="in America/New_York"):
        period("month", ms("0001-01-01T00:00:00"), zone="America/New_York")


def test_a_zone_outside_the_tz_database_is_refused() -> None:
    with pytest.raises(InvalidZone):
        period("month", 0, zone="localtime")
