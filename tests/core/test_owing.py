"""What a schedule owes: after an outage of any length, by each rule."""

import time

import pytest

from toa.core.owing import Policy, jittered, owing
from toa.core.recurrence import Schedule

NINE = Schedule("0 9 * * *", "UTC")
DAY, HOUR, MINUTE = 86_400_000, 3_600_000, 60_000
MONDAY_NINE = 1_767_603_600_000


def owed(schedule=NINE, *, late=0, missed=1, **policy):
    """What is owed `late` ms after 9:00 of a Monday, after an outage over so many occurrences of nine o'clock."""
    now = MONDAY_NINE + late
    return owing(schedule, Policy(**policy), after=MONDAY_NINE - missed * DAY, now=now, on_time_ms=1000)


def test_on_time_there_is_one_call_that_missed_nothing():
    found = owed()
    assert [(call.at, call.last, call.missed) for call in found.calls] == [(MONDAY_NINE, MONDAY_NINE, 0)]
    assert (found.making_up, found.expired, found.missed) == (False, None, None)
    assert (found.cursor, found.due) == (MONDAY_NINE, MONDAY_NINE + DAY)


def test_before_the_next_occurrence_nothing_is_owed():
    found = owing(NINE, Policy(), after=MONDAY_NINE, now=MONDAY_NINE + DAY - 1, on_time_ms=1000)
    assert (found.calls, found.cursor, found.due) == ((), MONDAY_NINE, MONDAY_NINE + DAY)


def test_S14_with_the_clock_set_back_the_next_is_after_the_cursor():
    found = owing(NINE, Policy(), after=MONDAY_NINE, now=MONDAY_NINE - 2 * HOUR, on_time_ms=1000)
    assert (found.calls, found.cursor, found.due) == ((), MONDAY_NINE, MONDAY_NINE + DAY)


@pytest.mark.parametrize("late", [31_000, 3 * HOUR])
def test_an_occurrence_found_late_was_missed(late):
    (call,) = owed(late=late).calls
    assert (call.at, call.missed) == (MONDAY_NINE, 1)


def test_S17_once_is_one_call_for_the_earliest_with_the_last_and_their_number():
    found = owed(late=3 * HOUR, missed=10)
    assert [(call.at, call.last, call.missed) for call in found.calls] == [(MONDAY_NINE - 9 * DAY, MONDAY_NINE, 10)]
    assert (found.making_up, found.missed, found.due) == (True, None, MONDAY_NINE + DAY)


def test_S17_none_records_what_was_missed_and_waits_for_the_next():
    found = owed(late=3 * HOUR, missed=10, catch_up="none")
    assert found.calls == ()
    assert (found.missed.first, found.missed.last, found.missed.count) == (MONDAY_NINE - 9 * DAY, MONDAY_NINE, 10)
    assert found.due == MONDAY_NINE + DAY


def test_S17_none_still_calls_the_one_that_is_on_time():
    found = owed(late=500, missed=10, catch_up="none")
    assert [(call.at, call.missed) for call in found.calls] == [(MONDAY_NINE, 0)]
    assert (found.missed.last, found.missed.count) == (MONDAY_NINE - DAY, 9)


def test_S17_each_makes_the_latest_within_the_window_oldest_first():
    found = owed(late=3 * HOUR, missed=10, catch_up="each", each_max=3, each_window_ms=30 * DAY)
    assert [call.at for call in found.calls] == [MONDAY_NINE - 2 * DAY, MONDAY_NINE - DAY, MONDAY_NINE]
    assert {(call.missed, call.last - call.at) for call in found.calls} == {(1, 0)}
    assert (found.missed.first, found.missed.count) == (MONDAY_NINE - 9 * DAY, 7)
    found = owed(late=3 * HOUR, missed=10, catch_up="each", each_window_ms=DAY + 3 * HOUR)
    assert [call.at for call in found.calls] == [MONDAY_NINE - DAY, MONDAY_NINE], "the window's bound is within it"


def test_S17_each_calls_the_one_that_is_on_time_whatever_the_window():
    found = owed(late=500, missed=3, catch_up="each", each_window_ms=100)
    assert [(call.at, call.missed) for call in found.calls] == [(MONDAY_NINE, 0)]
    assert found.missed.count == 2


@pytest.mark.parametrize(("late", "made"), [(0, 1), (1000, 1), (1001, 0)])
def test_S17_overdue_of_nothing_means_on_time_or_never(late, made):
    found = owed(late=late, overdue_ms=0)
    assert len(found.calls) == made
    assert (found.expired is None) == bool(made)


def test_S17_what_is_beyond_overdue_is_dropped_before_anything_else():
    found = owed(late=3 * HOUR, missed=10, overdue_ms=2 * DAY)
    assert [(call.at, call.last, call.missed) for call in found.calls] == [(MONDAY_NINE - DAY, MONDAY_NINE, 2)]
    assert (found.expired.first, found.expired.last, found.expired.count) == (
        MONDAY_NINE - 9 * DAY,
        MONDAY_NINE - 2 * DAY,
        8,
    )
    nothing = owed(late=3 * HOUR, missed=10, overdue_ms=HOUR)
    assert (nothing.calls, nothing.expired.count, nothing.cursor) == ((), 10, MONDAY_NINE)


@pytest.mark.parametrize(
    ("expression", "count"),
    [("* * * * * *", 365 * 86_400), ("* * * * *", 365 * 1440), ("0 9 * * *", 365), ("0 0 1 * *", 12)],
)
@pytest.mark.parametrize("catch_up", ["once", "none", "each"])
def test_S17_a_year_missed_is_dealt_with_in_constant_time(expression, count, catch_up):
    schedule = Schedule(expression, "Europe/Berlin")
    now = MONDAY_NINE + 5 * HOUR + 1
    began = time.process_time()
    found = owing(
        schedule,
        Policy(catch_up=catch_up, each_max=10, each_window_ms=400 * DAY),
        after=now - 365 * DAY,
        now=now,
        on_time_ms=1000,
    )
    assert time.process_time() - began < 1.0
    missed = 0 if found.missed is None else found.missed.count
    stood_for = sum(call.missed or 1 for call in found.calls)
    assert missed + stood_for == count
    assert found.cursor <= now < found.due


def test_jitter_is_the_same_each_time_spread_and_never_reaches_the_next():
    hourly = Schedule("0 * * * *", "UTC")
    moments = [MONDAY_NINE + hour * HOUR for hour in range(200)]
    policy = Policy(jitter_ms=2 * HOUR, seed="store.orders.report#")
    first = [jittered(hourly, policy, at) - at for at in moments]
    assert first == [jittered(hourly, policy, at) - at for at in moments]
    assert all(0 <= shift < HOUR for shift in first)
    assert min(first) < 10 * MINUTE < 50 * MINUTE < max(first)
    other = Policy(jitter_ms=2 * HOUR, seed="store.orders.report#other")
    assert first != [jittered(hourly, other, at) - at for at in moments]


def test_an_occurrence_that_waits_for_its_jitter_is_not_owed_yet():
    policy = Policy(jitter_ms=HOUR, seed="x")
    planned = jittered(NINE, policy, MONDAY_NINE)
    assert planned > MONDAY_NINE
    early = owing(NINE, policy, after=MONDAY_NINE - DAY, now=planned - 1, on_time_ms=1000)
    assert (early.calls, early.due, early.wake) == ((), MONDAY_NINE, planned)
    (call,) = owing(NINE, policy, after=MONDAY_NINE - DAY, now=planned, on_time_ms=1000).calls
    assert (call.at, call.planned, call.jitter, call.missed) == (MONDAY_NINE, planned, planned - MONDAY_NINE, 0)


def test_jitter_does_not_make_a_call_overdue():
    policy = Policy(jitter_ms=HOUR, overdue_ms=0, seed="x")
    planned = jittered(NINE, policy, MONDAY_NINE)
    assert owing(NINE, policy, after=MONDAY_NINE - DAY, now=planned, on_time_ms=1000).expired is None
