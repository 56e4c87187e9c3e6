"""Distances in time as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toa.admin.relative import relative, span

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (1, "1 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_099, "1 s"),
        (3_250, "3.2 s"),
        (9_999, "9.9 s"),
        (10_900, "10 s"),
        (59_999, "59 s"),
        (MINUTE, "1 min"),
        (MINUTE + 999, "1 min"),
        (2 * MINUTE + 5_000, "2 min 5 s"),
        (HOUR - 1, "59 min 59 s"),
        (HOUR, "1 h"),
        (2 * HOUR - 1, "1 h 59 min"),
        (DAY + HOUR - 1, "1 d"),
        (3 * DAY + 4 * HOUR, "3 d 4 h"),
        (400 * DAY, "400 d"),
        (-250, "-250 ms"),
    ],
)
def test_a_length_of_time_shows_its_units(milliseconds, text):
    assert span(milliseconds) == text


@pytest.mark.parametrize(
    ("distance", "past", "text"),
    [
        (2 * MINUTE, "late", "in 2 min"),
        (0, "late", "now"),
        (-3_000, "late", "3 s late"),
        (-3_000, "ago", "3 s ago"),
    ],
)
def test_a_moment_is_ahead_or_behind(distance, past, text):
    now = 1_767_614_400_000
    assert relative(now + distance, now, past) == text


UNITS = {"d": DAY, "h": HOUR, "min": MINUTE, "s": 1000, "ms": 1}


@given(st.integers(min_value=0, max_value=40_000 * DAY))
def test_what_is_cut_off_is_less_than_the_smallest_step_shown(milliseconds):
    words = span(milliseconds).split()
    shown = sum(round(float(number) * UNITS[unit]) for number, unit in zip(words[::2], words[1::2], strict=True))
    step = {"d": HOUR, "h": MINUTE, "min": 1000, "s": 1000 if milliseconds >= 10_000 else 100, "ms": 1}[words[1]]
    assert 0 <= milliseconds - shown < step
