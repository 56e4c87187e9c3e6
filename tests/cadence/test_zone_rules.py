"""The rules of a time zone change between two releases: nothing is called twice, and nothing is lost."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.cadence.calendar import DAY, HOUR
from tests.components.almanacs.operations import note
from toa.cadence.syncing import sync
from toa.core import zones
from toa.core.clock import to_moment

pytestmark = pytest.mark.django_db

ZONE = "Asia/Tashkent"


@pytest.fixture
def rules(monkeypatch):
    """Sets how many hours east of UTC the zone is, for the whole year, as a new tzdata would."""
    plain = zones.load_zone

    def set_hours(hours):
        fixed = ZoneInfo(f"Etc/GMT-{hours}")
        monkeypatch.setattr(zones, "load_zone", lambda name: fixed if name == ZONE else plain(name))
        zones._changes_of_year.cache_clear()

    yield set_hours
    monkeypatch.undo()
    zones._changes_of_year.cache_clear()


def at(text):
    return to_moment(datetime.fromisoformat(text).replace(tzinfo=UTC))


def called():
    return [call["at"] for call in note.CALLS]


@pytest.fixture
def nine(calendar, toa_clock, rules):
    """Nine o'clock each day, where it is 4:00 UTC; called once."""
    rules(5)
    toa_clock.set(at("2026-03-01 00:00"))
    calendar.declare(schedule="0 9 * * *", zone=ZONE)
    toa_clock.advance_to(at("2026-03-01 04:30"))
    assert called() == [at("2026-03-01 04:00")]
    return calendar


@pytest.mark.parametrize("synced", [True, False])
def test_the_clocks_of_the_zone_are_set_back_and_nine_does_not_come_again_that_day(nine, toa_clock, rules, synced):
    rules(4)
    if synced:
        sync()
    toa_clock.advance_to(at("2026-03-02 04:59"))
    assert called() == [at("2026-03-01 04:00")], "5:00 UTC is nine o'clock of the same day, by the new rules"
    toa_clock.advance_to(at("2026-03-03 05:00"))
    assert called()[1:] == [at("2026-03-02 05:00"), at("2026-03-03 05:00")]


def test_the_clocks_are_set_forward_and_the_next_day_comes_earlier(nine, toa_clock, rules):
    rules(6)
    sync()
    assert nine.next() == at("2026-03-02 03:00")
    toa_clock.advance_to(at("2026-03-03 03:00"))
    assert called()[1:] == [at("2026-03-02 03:00"), at("2026-03-03 03:00")]


def test_what_by_the_new_rules_should_have_been_called_already_is_called_late(nine, toa_clock, rules):
    toa_clock.set(at("2026-03-02 03:30"))
    rules(6)
    sync()
    toa_clock.run_until_idle()
    assert called()[1:] == [at("2026-03-02 03:00")]
    toa_clock.advance(DAY - HOUR)
    assert len(called()) == 2


def test_without_a_sync_the_moment_stored_before_is_kept_and_the_one_after_is_by_the_new_rules(nine, toa_clock, rules):
    rules(6)
    toa_clock.advance_to(at("2026-03-02 04:00"))
    assert called()[1:] == [at("2026-03-02 03:00")], "an hour late, for the moment of the new rules"
    toa_clock.advance_to(at("2026-03-03 03:00"))
    assert called()[2:] == [at("2026-03-03 03:00")]


def test_a_schedule_that_follows_real_time_goes_on_each_hour(calendar, toa_clock, rules):
    rules(5)
    toa_clock.set(at("2026-03-01 00:00"))
    calendar.declare(schedule="0 * * * *", zone=ZONE)
    toa_clock.advance(2 * HOUR)
    rules(4)
    sync()
    toa_clock.advance(2 * HOUR)
    assert called() == [at(f"2026-03-01 0{hour}:00") for hour in (1, 2, 3, 4)]
