from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toa.core.duration import MAX_DURATION_MS, format_duration, parse_duration, seconds_to_ms
from toa.exceptions import InvalidDuration


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (1, 1),
        (86_400_000, 86_400_000),
        ("72h", 259_200_000),
        ("250ms", 250),
        ("1d12h", 129_600_000),
        ("1h30m", 5_400_000),
        ("90m", 5_400_000),
        ("2w", 1_209_600_000),
        ("1w2d3h4m5s6ms", 788_645_006),
        ("0s", 0),
        ("36525d", MAX_DURATION_MS),
    ],
)
def test_a_duration_is_read_as_whole_milliseconds(value: int | str, expected: int) -> None:
    assert parse_duration(value) == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "empty"),
        (-1, "negative"),
        ("-1h", "'-1h' is no duration"),
        ("+1h", "no duration"),
        (1.5, "not float"),
        (math.nan, "not float"),
        (True, "not bool"),
        (None, "not NoneType"),
        ("nan", "no duration"),
        ("300", "no duration"),
        ("1.5h", "no duration"),
        ("1 h", "no duration"),
        ("1d 12h", "no duration"),
        (" 1h", "no duration"),
        ("1h\n", "no duration"),
        ("h", "no duration"),
        ("1e3s", "'e' is no unit"),
        ("\N{ARABIC-INDIC DIGIT ONE}h", "no duration"),
        ("1H", "'H' is no unit"),
        ("1y", "'y' is no unit"),
        ("1mo", "'mo' is no unit"),
        ("1h1h", "the unit h stands twice"),
        ("30m1h", "h stands after a smaller unit"),
        ("1ms1s", "s stands after a smaller unit"),
        ("36525d1ms", "longer than 36525d"),
        (MAX_DURATION_MS + 1, "longer than 36525d"),
        ("9" * 5000 + "h", "no duration"),
        pytest.param(10**5000, "a number of more than 20 digits ms is longer than 36525d", id="endless"),
        pytest.param(-(10**5000), "negative", id="endless, below zero"),
        ("1" + "h" * 5000, r"hhh\.\.\.' is no unit"),
    ],
)
def test_what_is_no_duration_is_refused_with_its_reason(value: object, reason: str) -> None:
    with pytest.raises(InvalidDuration, match=reason):
        parse_duration(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (300, 300_000),
        (0, 0),
        (0.1, 100),
        (0.25, 250),
        (1e3, 1_000_000),
        (1.001, 1001),
        (2.675, 2675),
        ("5m", 300_000),
        ("250ms", 250),
    ],
)
def test_a_bare_number_is_seconds_exact_to_the_millisecond(value: float | str, expected: int) -> None:
    assert seconds_to_ms(value) == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (0.0001, "not a whole number of milliseconds"),
        (1 / 3, "not a whole number of milliseconds"),
        (-1, "negative"),
        (-0.5, "negative"),
        (-1e300, "negative"),
        (math.nan, "no duration"),
        (math.inf, "no duration"),
        (-math.inf, "no duration"),
        (1e300, "longer than 36525d"),
        (10**400, "longer than 36525d"),
        pytest.param(10**5000, "longer than 36525d", id="endless"),
        (True, "not bool"),
        (None, "not NoneType"),
        ("300", "no duration"),
    ],
)
def test_seconds_that_are_no_duration_are_refused(value: object, reason: str) -> None:
    with pytest.raises(InvalidDuration, match=reason):
        seconds_to_ms(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [
        (0, "0ms"),
        (250, "250ms"),
        (129_600_000, "1d12h"),
        (5_400_000, "1h30m"),
        (604_800_000, "7d"),
        (61_001, "1m1s1ms"),
        (-1500, "-1s500ms"),
    ],
)
def test_a_duration_is_shown_with_units(milliseconds: int, expected: str) -> None:
    assert format_duration(milliseconds) == expected


@given(st.integers(min_value=0, max_value=MAX_DURATION_MS))
def test_what_is_shown_reads_back_to_the_same_number(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds)) == milliseconds


@given(st.integers(min_value=0, max_value=10**9))
def test_fractions_of_seconds_never_lose_a_millisecond(milliseconds: int) -> None:
    assert seconds_to_ms(milliseconds / 1000) == milliseconds
