from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.moment import ms
from toa.core.grid import Grid
from toa.exceptions import InvalidSchedule

DAY = 86_400_000


def test_P1_a_day_in_24_intervals_is_every_utc_hour() -> None:
    grid = Grid(cycle_ms=DAY, intervals=24)
    moment = ms("2026-10-31T00:00:00") - 1
    boundaries, inputs = [], []
    for _ in range(24):
        moment = grid.next_after(moment)
        boundaries.append(moment)
        inputs.append(grid.input_of(grid.ordinal(moment)))
    assert boundaries == [ms(f"2026-10-31T{hour:02}:00:00") for hour in range(24)]
    assert inputs == [{"n": 24, "i": hour} for hour in range(24)]


def test_P1_seven_seconds_in_three_intervals_stay_on_the_exact_grid_for_a_year() -> None:
    grid = Grid(cycle_ms=7000, intervals=3)
    first = grid.ordinal(ms("2026-01-01T00:00:00"))
    last = grid.ordinal(ms("2027-01-01T00:00:00"))
    moment = grid.boundary(first)
    for ordinal in range(first + 1, last + 1, 997):
        exact = ceil(Fraction(ordinal * 7000, 3))
        assert grid.boundary(ordinal) == exact
        assert grid.next_after(grid.boundary(ordinal - 1)) == exact
        assert exact > moment
        moment = exact
    distances = {grid.boundary(k + 1) - grid.boundary(k) for k in range(first, first + 3000)}
    assert distances == {2333, 2334}
    assert [grid.input_of(k)["i"] for k in range(3 * 10**9, 3 * 10**9 + 6)] == [0, 1, 2, 0, 1, 2]


def test_P2_the_first_call_of_a_pulse_stored_between_two_boundaries_is_at_the_next() -> None:
    grid = Grid(cycle_ms=300_000)
    assert grid.next_after(ms("2026-10-31T12:03:20")) == ms("2026-10-31T12:05:00")
    assert grid.next_after(ms("2026-10-31T12:05:00")) == ms("2026-10-31T12:10:00")


def test_P3_boundaries_missed_in_an_outage_are_the_difference_of_two_ordinals() -> None:
    grid = Grid(cycle_ms=300_000)
    called, back = ms("2026-10-31T12:00:00"), ms("2026-10-31T12:25:10")
    assert grid.ordinal(back) - grid.ordinal(called) == 5
    assert back - grid.boundary(grid.ordinal(back)) <= grid.grace_ms
    assert ms("2026-10-31T12:28:00") - grid.boundary(grid.ordinal(back)) > grid.grace_ms


@pytest.mark.parametrize(("cycle_ms", "grace_ms"), [(1000, 500), (40_000, 20_000), (60_000, 30_000), (DAY, 30_000)])
def test_P3_a_boundary_may_start_until_half_its_gap_or_thirty_seconds_later(cycle_ms: int, grace_ms: int) -> None:
    assert Grid(cycle_ms=cycle_ms).grace_ms == grace_ms


@given(
    old=st.builds(Grid, cycle_ms=st.integers(60_000, DAY), intervals=st.integers(1, 60)),
    new=st.builds(Grid, cycle_ms=st.integers(60_000, DAY), intervals=st.integers(1, 60)),
    now=st.integers(0, 4 * 10**12),
)
def test_P10_on_a_new_grid_the_next_call_is_after_the_cursor_of_the_old_one(old: Grid, new: Grid, now: int) -> None:
    cursor = old.boundary(old.ordinal(now))
    following = new.next_after(max(cursor, now))
    assert following > cursor
    assert following > now
    assert following == new.boundary(new.ordinal(following))


@given(
    cycle_ms=st.integers(1000, 10**12),
    intervals=st.integers(1, 10**6),
    moment=st.integers(-(10**14), 10**14),
)
def test_the_grid_agrees_with_exact_fractions_before_and_after_1970(cycle_ms: int, intervals: int, moment: int) -> None:
    if cycle_ms // intervals < 1000:
        with pytest.raises(InvalidSchedule):
            Grid(cycle_ms=cycle_ms, intervals=intervals)
        return
    grid = Grid(cycle_ms=cycle_ms, intervals=intervals)
    ordinal = grid.ordinal(moment)
    assert ordinal == floor(Fraction(moment * intervals, cycle_ms))
    assert grid.boundary(ordinal) == ceil(Fraction(ordinal * cycle_ms, intervals))
    assert grid.boundary(ordinal) <= moment < grid.next_after(moment)
    assert grid.next_after(moment) - grid.boundary(ordinal) in (grid.gap_ms, grid.gap_ms + 1)
    assert grid.input_of(ordinal) == {"n": intervals, "i": ordinal % intervals}
    assert 0 <= grid.input_of(ordinal)["i"] < intervals


@pytest.mark.parametrize(
    ("cycle_ms", "intervals", "reason"),
    [
        (999, 1, "999ms apart"),
        (0, 1, "cycle: 0 is below 1"),
        (-5000, 1, "below 1"),
        (5000, 0, "intervals: 0 is below 1"),
        (5000, 6, "5s in 6 intervals puts boundaries 833ms apart"),
        (10**15, 1, "longer than 36525d"),
        (5000.0, 1, "cycle: a whole number is needed, not float"),
        (5000, True, "intervals: a whole number is needed, not bool"),
    ],
)
def test_a_grid_that_is_none_is_refused_with_its_reason(cycle_ms: int, intervals: int, reason: str) -> None:
    with pytest.raises(InvalidSchedule, match=reason):
        Grid(cycle_ms=cycle_ms, intervals=intervals)
