"""The warning before a change of the clocks touches a schedule."""

from __future__ import annotations

import pytest
from django.test import override_settings

from toa.checks import clocks
from toa.checks.clocks import check_clocks

NOTE = "components.almanacs.note"
MARCH_2026 = 1_772_323_200.0


@pytest.fixture(autouse=True)
def march(monkeypatch):
    monkeypatch.setattr(clocks.time, "time", lambda: MARCH_2026)


def told(cadence):
    with override_settings(TOA={"CADENCE": {NOTE: cadence}}):
        return check_clocks(None)


def test_the_projects_own_schedules_are_not_touched():
    assert check_clocks(None) == []


def test_a_time_that_is_skipped_and_repeated_is_told_with_dates_and_what_will_happen():
    (found,) = told({"schedule": "30 2 * * *", "zone": "Europe/Berlin"})
    assert (found.id, found.obj) == ("toa.W106", "tests/components/almanacs/manifest.toa.yaml")
    first, *rest = found.msg.split(". ")
    assert first == f"the schedule {NOTE} ('30 2 * * *') is touched by changes of the clocks"
    assert rest == [
        "29 March 2026: 02:30 does not exist, the clocks in Europe/Berlin go from 02:00 to 03:00;"
        " it ticks once, at 03:00 (gap: end)",
        "25 October 2026: 02:30 comes twice, the clocks in Europe/Berlin go from 03:00 to 02:00;"
        " it ticks the first time alone (fold: first)",
        "28 March 2027: 02:30 does not exist, the clocks in Europe/Berlin go from 02:00 to 03:00;"
        " it ticks once, at 03:00 (gap: end)",
        "31 October 2027: 02:30 comes twice, the clocks in Europe/Berlin go from 03:00 to 02:00;"
        " it ticks the first time alone (fold: first)",
    ]


def test_each_of_a_list_is_told_by_its_name():
    found = told(
        [
            {"name": "touched", "schedule": "0 0 * * *", "zone": "America/Santiago", "gap": "skip"},
            {"name": "noon", "schedule": "0 12 * * *", "zone": "America/Santiago"},
        ]
    )
    (one,) = found
    assert f"{NOTE}#touched" in one.msg
    assert "6 September 2026: 00:00 does not exist" in one.msg
    assert "it does not tick (gap: skip)" in one.msg


@pytest.mark.parametrize(
    "schedule",
    [
        {"schedule": "0 9 * * *", "zone": "Europe/Berlin"},
        {"schedule": "30 2 * * *", "zone": "UTC"},
        {"schedule": "*/30 * * * *", "zone": "Europe/Berlin"},
        {"schedule": "30 2 1 1 *", "zone": "Europe/Berlin"},
    ],
)
def test_what_no_change_touches_is_silent(schedule):
    assert told(schedule) == []


def test_settings_that_do_not_hold_are_left_to_their_own_check():
    assert told({"schedule": "nonsense"}) == []
