from __future__ import annotations

import pickle
import time
from datetime import date, timedelta
from itertools import pairwise

import pytest

from tests.core.moment import ms, text
from toa.core.cron import Cron
from toa.core.recurrence import Missed, Schedule, next_occurrence
from toa.exceptions import InvalidMoment, InvalidSchedule, InvalidZone

NEW_YORK = "America/New_York"


def ticks(schedule: Schedule, after: str, until: str) -> list[str | None]:
    return [text(tick) for tick in schedule.occurrences(ms(after), ms(until), 10_000)]


def test_S1_five_fields_tick_at_full_minutes_strictly_after() -> None:
    schedule = Schedule("*/15 * * * *", "UTC")
    tick = ms("2026-10-31T12:15:00")
    assert schedule.next_after(tick - 1) == tick
    assert schedule.next_after(tick) == ms("2026-10-31T12:30:00")
    assert schedule.next_after(tick + 1) == ms("2026-10-31T12:30:00")
    assert schedule.previous_before(tick + 1) == tick
    assert schedule.previous_before(tick) == ms("2026-10-31T12:00:00")


def test_S1_six_fields_have_leading_seconds() -> None:
    schedule = Schedule("15,45 30 9 * * *", "UTC")
    assert ticks(schedule, "2026-10-31T00:00:00", "2026-11-01T12:00:00") == [
        "2026-10-31T09:30:15Z",
        "2026-10-31T09:30:45Z",
        "2026-11-01T09:30:15Z",
        "2026-11-01T09:30:45Z",
    ]
    every_second = Schedule("* * * * * *", "UTC")
    now = ms("2026-10-31T12:00:00.250")
    assert every_second.next_after(now) == ms("2026-10-31T12:00:01")
    assert every_second.next_after(ms("2026-10-31T12:00:01")) == ms("2026-10-31T12:00:02")
    assert every_second.previous_before(now) == ms("2026-10-31T12:00:00")


def test_S1_moments_before_1970_round_towards_the_next_tick_too() -> None:
    schedule = Schedule("* * * * * *", "UTC")
    assert schedule.next_after(-1) == 0
    assert schedule.next_after(-1000) == 0
    assert schedule.next_after(-1001) == -1000
    assert schedule.previous_before(-999) == -1000
    assert schedule.previous_before(0) == -1000


@pytest.mark.parametrize("host_zone", ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_S2_nine_in_tokyo_is_midnight_utc_whatever_the_servers_zone(
    monkeypatch: pytest.MonkeyPatch, host_zone: str
) -> None:
    monkeypatch.setenv("TZ", host_zone)
    time.tzset()
    try:
        schedule = Schedule("0 9 * * *", "Asia/Tokyo")
        assert ticks(schedule, "2026-10-30T00:00:00", "2026-11-01T00:00:00") == [
            "2026-10-31T00:00:00Z",
            "2026-11-01T00:00:00Z",
        ]
        assert schedule.previous_before(ms("2026-10-31T00:00:00")) == ms("2026-10-30T00:00:00")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("gap", "in_the_gap"),
    [("end", ["2026-03-08T07:00:00Z"]), ("shift", ["2026-03-08T07:30:00Z"]), ("skip", [])],
)
def test_S3_a_time_in_the_gap_ticks_once_as_the_rule_says(gap: str, in_the_gap: list[str]) -> None:
    schedule = Schedule("30 2 * * *", NEW_YORK, gap=gap)  # type: ignore[arg-type]
    assert ticks(schedule, "2026-03-07T00:00:00", "2026-03-10T12:00:00") == [
        "2026-03-07T07:30:00Z",
        *in_the_gap,
        "2026-03-09T06:30:00Z",
        "2026-03-10T06:30:00Z",
    ]


def test_S4_several_times_in_one_gap_are_one_tick() -> None:
    schedule = Schedule("15,45 2 * * *", NEW_YORK)
    assert ticks(schedule, "2026-03-08T00:00:00", "2026-03-09T06:20:00") == [
        "2026-03-08T07:00:00Z",
        "2026-03-09T06:15:00Z",
    ]
    every_minute = Schedule("* 2 * * *", NEW_YORK)
    assert ticks(every_minute, "2026-03-08T00:00:00", "2026-03-09T06:00:00") == [
        "2026-03-08T07:00:00Z",
        "2026-03-09T06:00:00Z",
    ]


def test_S4_the_end_of_a_gap_that_is_named_itself_is_one_tick() -> None:
    schedule = Schedule("0 2,3 * * *", NEW_YORK)
    assert ticks(schedule, "2026-03-08T00:00:00", "2026-03-08T12:00:00") == ["2026-03-08T07:00:00Z"]
    assert schedule.missed(ms("2026-03-08T00:00:00"), ms("2026-03-08T12:00:00")) == Missed(
        first=ms("2026-03-08T07:00:00"), last=ms("2026-03-08T07:00:00"), count=1
    )


def test_S4_shifted_times_come_in_order_among_those_named_themselves() -> None:
    schedule = Schedule("15,45 2,3 * * *", NEW_YORK, gap="shift")
    both = ["2026-03-08T07:15:00Z", "2026-03-08T07:45:00Z"]
    assert ticks(schedule, "2026-03-08T00:00:00", "2026-03-08T12:00:00") == both
    mixed = Schedule("15,45 2 8 3 *", NEW_YORK, gap="shift")
    assert ticks(mixed, "2026-03-08T00:00:00", "2026-03-08T12:00:00") == both
    assert mixed.previous_before(ms("2026-03-08T07:45:00")) == ms("2026-03-08T07:15:00")


def test_S5_a_time_shown_twice_ticks_on_the_first_pass_alone() -> None:
    schedule = Schedule("30 1 * * *", NEW_YORK)
    assert ticks(schedule, "2026-10-31T12:00:00", "2026-11-02T12:00:00") == [
        "2026-11-01T05:30:00Z",
        "2026-11-02T06:30:00Z",
    ]
    # Delivered late, in the second pass, or found there after a restart: the next is tomorrow's.
    for moment in (
        "2026-11-01T05:30:00",
        "2026-11-01T06:10:00",
        "2026-11-01T06:29:59",
        "2026-11-01T06:30:00",
    ):
        assert text(schedule.next_after(ms(moment))) == "2026-11-02T06:30:00Z"
        if moment != "2026-11-01T05:30:00":
            assert text(schedule.previous_before(ms(moment))) == "2026-11-01T05:30:00Z"


def test_S5_with_fold_both_it_ticks_on_each_pass() -> None:
    schedule = Schedule("30 1 * * *", NEW_YORK, fold="both")
    assert ticks(schedule, "2026-10-31T12:00:00", "2026-11-02T12:00:00") == [
        "2026-11-01T05:30:00Z",
        "2026-11-01T06:30:00Z",
        "2026-11-02T06:30:00Z",
    ]


@pytest.mark.parametrize(("expression", "a_day"), [("0 * * * *", 24), ("*/30 * * * *", 48)])
def test_S6_steps_follow_real_time_through_both_changes(expression: str, a_day: int) -> None:
    schedule = Schedule(expression, NEW_YORK)
    step = 24 * 3_600_000 // a_day
    for start, stop, hours in (
        ("2026-03-08T00:00:00-05:00", "2026-03-09T00:00:00-04:00", 23),
        ("2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00", 25),
    ):
        found = schedule.occurrences(ms(start) - 1, ms(stop) - 1, 1000)
        assert len(found) == hours * a_day // 24
        assert {two - one for one, two in pairwise(found)} == {step}


def test_S6_hours_written_out_are_fixed_and_tick_once_for_each_hour_named() -> None:
    schedule = Schedule("0 0-23 * * *", NEW_YORK)
    spring = ticks(schedule, "2026-03-08T04:59:59", "2026-03-09T03:59:59")
    autumn = ticks(schedule, "2026-11-01T03:59:59", "2026-11-02T04:59:59")
    assert len(spring) == 23
    assert len(autumn) == 24
    assert "2026-11-01T06:00:00Z" not in autumn


@pytest.mark.parametrize(
    ("zone", "expression", "expected"),
    [
        # Midnight is skipped, 00:00 to 01:00, on 6 September and on 24 April.
        (
            "America/Santiago",
            "0 0 * * *",
            ["2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"],
        ),
        (
            "Africa/Cairo",
            "0 0 * * *",
            ["2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"],
        ),
        # 23:00 to 24:00 is skipped: the tick of 28 March is at 00:00 of the 29th.
        (
            "America/Nuuk",
            "30 23 * * *",
            ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
        ),
    ],
)
def test_S7_a_nominal_day_keeps_its_tick_when_its_midnight_is_skipped(
    zone: str, expression: str, expected: list[str]
) -> None:
    assert ticks(Schedule(expression, zone), expected[0][:11] + "00:00:00", expected[-1]) == expected


def test_S7_a_whole_day_that_is_skipped_keeps_its_tick() -> None:
    # Apia went from 29 December 24:00 to 31 December 00:00.
    schedule = Schedule("0 9 * * *", "Pacific/Apia")
    assert ticks(schedule, "2011-12-29T00:00:00", "2011-12-31T23:00:00") == [
        "2011-12-29T19:00:00Z",  # 29 December 09:00
        "2011-12-30T10:00:00Z",  # 30 December, at the end of the gap: 31 December 00:00
        "2011-12-30T19:00:00Z",  # 31 December 09:00
        "2011-12-31T19:00:00Z",
    ]
    only_then = Schedule("0 9,17 30 12 *", "Pacific/Apia")
    assert text(only_then.next_after(ms("2011-06-01T00:00:00"))) == "2011-12-30T10:00:00Z"
    assert text(Schedule("0 9 30 12 *", "Pacific/Apia", gap="skip").next_after(ms("2011-06-01T00:00:00"))) == (
        "2012-12-29T19:00:00Z"
    )


def test_S8_no_nominal_day_is_lost_or_doubled_at_a_half_hour_change() -> None:
    zone = "Australia/Lord_Howe"
    for clock, spring, autumn in (
        ("15 2", "2026-10-03T15:30:00Z", "2026-04-04T15:45:00Z"),
        ("45 1", "2026-10-03T15:15:00Z", "2026-04-04T14:45:00Z"),
    ):
        schedule = Schedule(f"{clock} * * *", zone)
        for middle, tick in (("2026-10-04", spring), ("2026-04-05", autumn)):
            day = date.fromisoformat(middle)
            start, stop = (f"{day + timedelta(days=n)}T05:00:00" for n in (-4, 3))
            found = ticks(schedule, start, stop)
            assert len(found) == 7
            assert tick in found


def test_S8_hourly_steps_are_never_further_apart_than_the_step_and_the_change() -> None:
    for expression, longest in (("0 * * * *", 90), ("*/30 * * * *", 30), ("*/20 * * * *", 30)):
        schedule = Schedule(expression, "Australia/Lord_Howe")
        for day in ("2026-10-03", "2026-04-04"):
            found = schedule.occurrences(ms(f"{day}T12:00:00"), ms(f"{day}T20:00:00"), 100)
            distances = [two - one for one, two in pairwise(found)]
            assert max(distances) == longest * 60_000


def test_S9_after_an_outage_the_earliest_missed_and_their_number_are_known() -> None:
    schedule = Schedule("30 9 * * *", "Europe/Berlin")
    cursor, back = ms("2026-10-22T07:30:00"), ms("2026-10-27T12:00:00")
    assert schedule.missed(cursor, back) == Missed(
        first=ms("2026-10-23T07:30:00"), last=ms("2026-10-27T08:30:00"), count=5
    )
    assert schedule.next_after(max(cursor, back)) == ms("2026-10-28T08:30:00")
    assert schedule.missed(back, back + 3_600_000) is None


def test_S9_bounds_of_what_was_missed_are_after_the_cursor_and_up_to_now() -> None:
    schedule = Schedule("0 * * * *", "UTC")
    first, last = ms("2026-10-31T10:00:00"), ms("2026-10-31T12:00:00")
    assert schedule.missed(first, last) == Missed(first=first + 3_600_000, last=last, count=2)
    assert schedule.missed(first - 1, last - 1) == Missed(first=first, last=last - 3_600_000, count=2)
    assert schedule.missed(last, last) is None


def test_S10_and_S11_a_schedule_is_refused_where_it_is_declared() -> None:
    with pytest.raises(InvalidSchedule, match="minute field '61'"):
        Schedule("61 * * * *", "UTC")
    with pytest.raises(InvalidZone, match="localtime"):
        Schedule("0 9 * * *", "localtime")
    with pytest.raises(InvalidZone):
        next_occurrence("0 9 * * *", "", after=0)
    with pytest.raises(InvalidSchedule, match=r"gap: 'drop' is no rule.*end, shift, skip"):
        Schedule("0 9 * * *", "UTC", gap="drop")  # type: ignore[arg-type]
    with pytest.raises(InvalidSchedule, match=r"fold: 'second' is no rule.*first, both"):
        Schedule("0 9 * * *", "UTC", fold="second")  # type: ignore[arg-type]


@pytest.mark.parametrize("moment", [1.0, True, "2026-10-31", None, 10**18])
def test_a_moment_that_is_none_is_refused(moment: int) -> None:
    schedule = Schedule("0 9 * * *", "UTC")
    with pytest.raises(InvalidMoment, match="after"):
        schedule.next_after(moment)
    with pytest.raises(InvalidMoment, match="before"):
        schedule.previous_before(moment)


def test_S17_the_latest_of_what_was_missed_come_oldest_first() -> None:
    schedule = Schedule("0 * * * *", "Europe/Berlin")
    after, until = ms("2026-10-24T12:00:00"), ms("2026-10-25T03:00:00")
    assert [text(tick) for tick in schedule.latest(after, until, 3)] == [
        "2026-10-25T01:00:00Z",
        "2026-10-25T02:00:00Z",
        "2026-10-25T03:00:00Z",
    ]
    assert schedule.latest(after, until, 1000) == schedule.occurrences(after, until, 1000)
    assert schedule.latest(after, until, 0) == schedule.occurrences(after, until, 0) == []


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("* * * * * *", 365 * 86_400),
        ("* * * * *", 365 * 1440),
        ("0 9 * * *", 365),
        ("0 9 1 * *", 12),
        ("* * 2 * * *", 365 * 3600),
    ],
)
def test_S17_a_year_missed_is_counted_exactly_in_any_zone(expression: str, count: int) -> None:
    for zone in ("UTC", NEW_YORK, "Australia/Lord_Howe", "Antarctica/Troll"):
        # The local year, from one 1 July to the next.
        start, stop = (next_occurrence("0 0 1 7 *", zone, after=ms(f"{year}-06-01T00:00:00")) for year in (2026, 2027))
        assert start is not None
        assert stop is not None
        found = Schedule(expression, zone).missed(start - 1, stop - 1)
        assert found is not None
        if expression == "* * 2 * * *" and zone != "UTC":
            # The hour is skipped, in part or in whole, and made up by one tick at the end of the gap.
            lost = {NEW_YORK: 3600, "Australia/Lord_Howe": 1800, "Antarctica/Troll": 3600}[zone]
            named = {NEW_YORK: 0, "Australia/Lord_Howe": 1, "Antarctica/Troll": 0}[zone]
            assert found.count == count - lost + 1 - named
        else:
            assert found.count == count


def test_S17_a_jump_costs_the_same_a_second_and_a_year_later(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def count(name: str) -> None:
        answer = getattr(Cron, name)

        def counted(cron: Cron, local: int) -> int:
            asked.append(local)
            return int(answer(cron, local))

        monkeypatch.setattr(Cron, name, counted)

    count("first_from")
    count("last_until")
    schedule = Schedule("* * * * * *", NEW_YORK)
    cursor = ms("2025-10-31T12:00:00")
    for outage in (10_000, 365 * 86_400_000, 30 * 365 * 86_400_000):
        asked.clear()
        missed = schedule.missed(cursor, cursor + outage)
        assert missed == Missed(first=cursor + 1000, last=cursor + outage, count=outage // 1000)
        assert schedule.next_after(cursor + outage) == cursor + outage + 1000
        assert len(asked) == 3
    asked.clear()
    leap_day = Schedule("0 9 29 2 *", NEW_YORK)
    assert text(leap_day.next_after(ms("2096-03-01T00:00:00"))) == "2104-02-29T14:00:00Z"
    assert len(asked) == 1


def test_the_calendar_ends_in_9900_and_begins_in_100() -> None:
    schedule = Schedule("0 0 1 1 *", "America/New_York")
    assert text(schedule.next_after(ms("9898-06-01T00:00:00"))) == "9899-01-01T05:00:00Z"
    assert schedule.next_after(ms("9899-06-01T00:00:00")) is None
    assert schedule.next_after(ms("9999-12-31T23:59:59")) is None
    assert text(schedule.previous_before(ms("9999-12-31T23:59:59"))) == "9899-01-01T05:00:00Z"
    assert schedule.previous_before(ms("0001-01-01T00:00:00")) is None
    assert schedule.previous_before(ms("0100-01-01T00:00:00")) is None
    assert schedule.next_after(ms("0001-01-01T00:00:00")) == schedule.next_after(ms("0100-01-01T00:00:00"))
    assert schedule.missed(ms("9950-01-01T00:00:00"), ms("9960-01-01T00:00:00")) is None


def test_offsets_with_seconds_give_exact_moments() -> None:
    # Amsterdam kept 17 min 30 s ahead of Greenwich in the tz database's early years.
    assert text(next_occurrence("0 9 * * *", "Europe/Amsterdam", after=ms("1880-01-01T00:00:00"))) == (
        "1880-01-01T08:42:30Z"
    )


def test_S18_each_row_has_its_own_calendar_and_zone() -> None:
    after = ms("2026-01-31T12:00:00")
    assert text(next_occurrence("0 9 31 * *", "Asia/Tokyo", after=after)) == "2026-03-31T00:00:00Z"
    assert text(next_occurrence("0 9 31 * *", NEW_YORK, after=after)) == "2026-01-31T14:00:00Z"
    assert text(next_occurrence("30 2 8 3 *", NEW_YORK, after=after, gap="shift")) == "2026-03-08T07:30:00Z"
    assert (
        text(next_occurrence("30 1 1 11 *", NEW_YORK, after=ms("2026-11-01T05:30:00"), fold="both"))
        == "2026-11-01T06:30:00Z"
    )


def test_a_schedule_is_a_value() -> None:
    schedule = Schedule("30 2 * * *", NEW_YORK, gap="shift")
    assert schedule == Schedule("30 2 * * *", NEW_YORK, gap="shift")
    assert schedule != Schedule("30 2 * * *", NEW_YORK)
    assert hash(schedule) == hash(Schedule("30 2 * * *", NEW_YORK, gap="shift"))
    assert pickle.loads(pickle.dumps(schedule)).next_after(0) == schedule.next_after(0)
