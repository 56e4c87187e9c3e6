from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from tests.core import tzif
from tests.core.moment import ms
from toa.core import recurrence, zones
from toa.core.zones import Change, check_zone, first_change, last_change, load_zone, offset_at
from toa.exceptions import InvalidZone

WEEK = 7 * 86_400


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "a time zone is a name, not NoneType"),
        (0, "not int"),
        ("", "the time zone is empty"),
        ("local", "no time zone 'local'"),
        ("localtime", "no time zone 'localtime'"),
        ("posixrules", "no time zone 'posixrules'"),
        ("Factory", "no time zone 'Factory'"),
        ("UTC+9", r"write Etc/GMT-9: its sign counts west"),
        ("gmt-3", r"write Etc/GMT\+3"),
        ("+09:00", "no time zone"),
        ("Mars/Olympus", "no time zone 'Mars/Olympus'"),
        ("/usr/share/zoneinfo/UTC", "no time zone"),
        ("../zoneinfo/UTC", "no time zone"),
        ("Europe/../UTC", "no time zone"),
        ("Europe/", "no time zone"),
        ("zone.tab", "no time zone"),
        ("Europe/Berlin\x00", "no time zone"),
        ("x" * 10_000, "no time zone"),
    ],
)
def test_S11_a_zone_outside_the_tz_database_is_refused(name: object, reason: str) -> None:
    with pytest.raises(InvalidZone, match=reason):
        check_zone(name)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("Europe/Berlni", "Europe/Berlin"),
        ("America/NewYork", "America/New_York"),
        ("new york", "America/New_York"),
        ("Asia/Tokio", "Asia/Tokyo"),
        ("utc", "UTC"),
        ("Tokio", "Asia/Tokyo"),
    ],
)
def test_M4_an_unknown_zone_is_answered_with_the_nearest_name(name: str, nearest: str) -> None:
    with pytest.raises(InvalidZone) as caught:
        check_zone(name)
    assert caught.value.hint == f"did you mean {nearest}?"


def test_every_zone_of_the_tz_database_can_be_used() -> None:
    assert zones.zone_names() == set(tzif.zone_names())
    for name in tzif.zone_names():
        assert load_zone(check_zone(name)).key == name


@pytest.fixture
def host_that_is_wrong(tmp_path: Path) -> Iterator[None]:
    """A host whose own files say that Tokyo and Berlin keep UTC."""
    utc = files("tzdata").joinpath("zoneinfo", "UTC").read_bytes()
    for name in ("Asia/Tokyo", "Europe/Berlin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(utc)
    known = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([tmp_path])
    zoneinfo.ZoneInfo.clear_cache()
    load_zone.cache_clear()
    yield
    zoneinfo.reset_tzpath(known)
    zoneinfo.ZoneInfo.clear_cache()


@pytest.mark.usefixtures("host_that_is_wrong")
def test_rules_come_from_the_pinned_package_not_from_the_host() -> None:
    noon = ms("2026-01-15T12:00:00") // 1000
    assert zoneinfo.ZoneInfo("Asia/Tokyo").utcoffset(None) is not None  # the host's file is what others would read
    assert offset_at("Asia/Tokyo", noon) == 9 * 3600
    assert offset_at("Europe/Berlin", noon) == 3600


def test_no_two_changes_of_a_zone_are_nearer_than_the_search_looks() -> None:
    # Two bounds of the search: the step of its probes, and how long a change is felt.
    for name in tzif.zone_names():
        shifts = tzif.shifts_of(name)[1]
        for one, two in pairwise(shifts):
            assert two.at - one.at > max(zones._PROBE_STEP_S, recurrence._REACH_S)
        assert all(abs(shift.after - shift.before) <= 86_400 < recurrence._REACH_S for shift in shifts)


@pytest.mark.parametrize("year", [2020, pytest.param(1850, marks=pytest.mark.slow)])
def test_every_change_in_the_files_and_by_their_rules_is_found(year: int) -> None:
    start, stop = ms(f"{year}-01-01T00:00:00") // 1000, ms("2040-12-31T00:00:00") // 1000
    for (_, shifts), name in tzif.distinct_rules(start, stop).items():
        found = []
        moment = start - 1
        while change := first_change(name, moment, stop - 1):
            found.append(change)
            moment = change.at
        assert found == [Change(at=at, before=before, after=after) for at, before, after in shifts], name


def test_a_change_is_found_from_both_sides_bounds_as_documented() -> None:
    at = ms("2026-03-29T01:00:00") // 1000
    change = Change(at=at, before=3600, after=7200)
    assert first_change("Europe/Berlin", at - 1, at) == change
    assert first_change("Europe/Berlin", at, at + WEEK) is None
    assert first_change("Europe/Berlin", at - WEEK, at - 1) is None
    assert last_change("Europe/Berlin", at - 1, at) == change
    assert last_change("Europe/Berlin", at, at + WEEK) is None
    autumn = ms("2026-10-25T01:00:00") // 1000
    assert last_change("Europe/Berlin", at - 1, autumn + WEEK) == Change(at=autumn, before=7200, after=3600)


def test_changes_go_on_beyond_the_table_of_the_file() -> None:
    spring, autumn = ms("2060-03-28T01:00:00") // 1000, ms("2060-10-31T01:00:00") // 1000
    january = ms("2060-01-01T00:00:00") // 1000
    assert first_change("Europe/Berlin", january, autumn) == Change(at=spring, before=3600, after=7200)
    assert first_change("Europe/Berlin", spring, autumn) == Change(at=autumn, before=7200, after=3600)


def test_offsets_keep_their_seconds() -> None:
    assert offset_at("Europe/Amsterdam", ms("1880-01-01T00:00:00") // 1000) == 1050
    assert offset_at("Africa/Monrovia", ms("1971-01-01T00:00:00") // 1000) == -2670
