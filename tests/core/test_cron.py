from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import pytest
from cronsim import CronSim

from tests.core.walker import Named
from toa.core.cron import parse_cron
from toa.exceptions import InvalidSchedule

EPOCH = datetime(1970, 1, 1)


def local(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(seconds=1)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "the schedule is empty"),
        ("   ", "the schedule is empty"),
        (None, "a schedule is text, not NoneType"),
        (["0 9 * * *"], "a schedule is text, not list"),
        ("* * * *", "6 with leading seconds, not 4"),
        ("* * * * * * *", "6 with leading seconds, not 7"),
        ("61 * * * *", "minute field '61': 61 is outside 0-59"),
        ("60 * * * *", "minute field '60': 60 is outside 0-59"),
        ("0 24 * * *", "hour field '24': 24 is outside 0-23"),
        ("60 0 0 * * *", "second field '60': 60 is outside 0-59"),
        ("0 0 0 * *", "day of month field '0': 0 is outside 1-31"),
        ("0 0 32 * *", "day of month field '32'"),
        ("0 0 1 13 *", "month field '13': 13 is outside 1-12 or jan-dec"),
        ("0 0 1 0 *", "month field '0'"),
        ("0 0 * * 8", "day of week field '8': 8 is outside 0-7 or sun-sat"),
        ("*/0 * * * *", "minute field '\\*/0': the step is 0"),
        ("*/90 * * * *", r"minute field '\*/90': the step 90 is beyond the range 0-59"),
        ("*/60 * * * *", "the step 60 is beyond the range 0-59"),
        ("0 */24 * * *", "hour field '\\*/24': the step 24 is beyond the range 0-23"),
        ("0 0 1 */12 *", "month field '\\*/12': the step 12 is beyond the range 1-12"),
        ("0 0 * * */7", "day of week field '\\*/7': the step 7 is beyond the range 0-6"),
        ("10-20/15 * * * *", "the step 15 is beyond the range 10-20"),
        ("5-5/1 * * * *", "the step 1 is beyond the range 5-5"),
        ("59/15 * * * *", "a step needs \\* or a range before it"),
        ("5-1 * * * *", "minute field '5-1': the range 5-1 runs backward"),
        ("0 22-6 * * *", r"hour field '22-6': the range 22-6 runs backward \(write 22-23,0-6\)"),
        ("0 0 * * fri-sun", r"the range fri-sun runs backward \(write 5-7\)"),
        ("0 0 * nov-feb *", r"the range nov-feb runs backward \(write 11-12,1-2\)"),
        ("0 0 31 2 *", "day of month field '31': it never comes due"),
        ("0 0 31 2,4 *", "day of month field '31': it never comes due, no month of '2,4' has that day"),
        ("0 0 30,31 feb *", "it never comes due"),
        ("0 0 30-31 2 */2", "it never comes due"),
        ("@daily", r"names with @ are not read \(write '0 0 \* \* \*'\)"),
        ("@reboot", "names with @ are not read"),
        ("H * * * *", "minute field 'H'.*extensions of other schedulers"),
        ("H(0-29)/10 * * * *", "minute field.*extensions of other schedulers"),
        ("R * * * *", "minute field 'R'.*extensions of other schedulers"),
        ("0 0 L * *", "day of month field 'L'.*extensions of other schedulers"),
        ("0 0 LW * *", "day of month field 'LW'.*extensions of other schedulers"),
        ("0 0 15W * *", "day of month field '15W'.*extensions of other schedulers"),
        ("0 0 * * 5L", "day of week field '5L'.*extensions of other schedulers"),
        ("0 0 * * 5#2", "day of week field '5#2'.*extensions of other schedulers"),
        ("0 0 ? * mon", r"day of month field '\?'.*\(write \*\)"),
        ("1,,2 * * * *", "minute field '1,,2': an item of the list is empty"),
        (", * * * *", "an item of the list is empty"),
        ("1, 2 * * * *", "6 with leading seconds, not 6|an item of the list is empty"),
        ("-5 * * * *", "minute field '-5': a value cannot be negative"),
        ("1.5 * * * *", "minute field '1.5'"),
        ("*,5 * * * *", r"\* cannot stand in a list \(write 0-59\)"),
        ("*/15,7 * * * *", r"\* cannot stand in a list \(write 0-59/15\)"),
        ("*-5 * * * *", r"\* has no range"),
        ("1-2-3 * * * *", "minute field '1-2-3'"),
        ("1/2/3 * * * *", "minute field '1/2/3'"),
        ("mon * * * *", "minute field 'mon'"),
        ("0 0 * mon *", "month field 'mon'"),
        ("0 0 * * monday", "day of week field 'monday'"),
        ("\N{ARABIC-INDIC DIGIT THREE} * * * *", "minute field"),
        ("0\n9 * * mon", "6 with leading seconds, not 4"),
        ("0 9 * * mon\n0 10 * * mon", "not 9"),
        ("0 0 * * " + ",".join(["1"] * 2000), "at most 1000 characters"),
        ("\x00 * * * *", "minute field"),
    ],
)
def test_S10_what_is_loose_or_never_due_is_refused_with_the_field(expression: object, reason: str) -> None:
    with pytest.raises(InvalidSchedule, match=reason):
        parse_cron(expression)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        ("0 9 * * mon", "0 9 * * 1"),
        ("0 9 * * MON-Fri", "0 9 * * 1-5"),
        ("0 0 1 JAN,jul *", "0 0 1 1,7 *"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * sun", "0 0 * * 0"),
        ("0 0 * * 5-7", "0 0 * * 0,5,6"),
        ("0 0 * * 0-7", "0 0 * * 0-6"),
        ("05 09 01 01 *", "5 9 1 1 *"),
        ("0,0,30 * * * *", "0,30 * * * *"),
        ("10-20,15-25/5 * * * *", "10-20,25 * * * *"),
        ("  0\t9  * * *  ", "0 9 * * *"),
        ("0 9 * * *\n", "0 9 * * *"),
        ("0 0 9 * * *", "0 9 * * *"),
        ("5-5 * * * *", "5 * * * *"),
    ],
)
def test_one_calendar_may_be_written_in_several_ways(expression: str, same: str) -> None:
    assert parse_cron(expression) == parse_cron(same)


@pytest.mark.parametrize(
    ("expression", "fixed"),
    [
        ("0 * * * *", False),
        ("0 */2 * * *", False),
        ("* * * * *", False),
        ("0 2 * * *", True),
        ("* 2 * * *", True),
        ("0 0-23 * * *", True),
        ("0 0-23/2 * * *", True),
        ("0 1,2 * * *", True),
    ],
)
def test_only_a_star_in_the_hour_field_follows_real_time(expression: str, fixed: bool) -> None:
    assert parse_cron(expression).fixed is fixed


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        # Either: both fields restricted.
        ("0 0 13 * fri", [6, 13, 20, 27]),
        ("0 0 1,15 * mon", [1, 2, 9, 15, 16, 23, 30]),
        # Written out in full it is no star, so either is enough, and that is every day.
        ("0 0 1-31 * mon", list(range(1, 31))),
        ("0 0 13 * 0-6", list(range(1, 31))),
        # Both: one of them starts with a star.
        ("0 0 * * mon", [2, 9, 16, 23, 30]),
        ("0 0 13 * *", [13]),
        ("0 0 */2 * mon", [9, 23]),
        ("0 0 13,14 * */6", [14]),
    ],
)
def test_day_of_month_and_day_of_week_join_as_in_cron(expression: str, days: list[int]) -> None:
    cron = parse_cron(expression)
    moment, stop = local("2026-11-01T00:00:00"), local("2026-12-01T00:00:00")
    found = []
    while (moment := cron.first_from(moment)) < stop:
        found.append((EPOCH + timedelta(seconds=moment)).day)
        moment += 1
    assert found == days
    assert cron.count(local("2026-11-01T00:00:00"), stop) == len(days)


@pytest.mark.parametrize(
    ("expression", "after", "following"),
    [
        # What croniter by itself reads as every minute, as a wrap, or as the whole cycle.
        ("5-5 * * * *", "2026-10-31T12:06:00", "2026-10-31T13:05:00"),
        ("0 0 29 2 *", "2096-03-01T00:00:00", "2104-02-29T00:00:00"),
        # Both 29 February and a Sunday or Saturday: across a century without a leap day.
        ("0 0 29 2 */6", "2088-02-29T12:00:00", "2116-02-29T00:00:00"),
        ("0 0 31 2 mon", "2026-02-03T00:00:00", "2026-02-09T00:00:00"),
        ("30 15 10 * * *", "2026-10-31T10:15:31", "2026-11-01T10:15:30"),
    ],
)
def test_rare_times_are_found(expression: str, after: str, following: str) -> None:
    cron = parse_cron(expression)
    assert cron.first_from(local(after)) == local(following)
    assert cron.last_until(local(following)) == local(following)
    assert cron.last_until(local(following) - 1) <= local(after)


def random_field(rng: random.Random, low: int, high: int) -> str:
    kind = rng.randrange(6)
    if kind < 2:
        return "*"
    if kind == 2:
        return f"*/{rng.randint(1, high - low)}"
    if kind == 3:
        return ",".join(str(rng.randint(low, high)) for _ in range(rng.randint(1, 4)))
    first = rng.randint(low, high - 1)
    last = rng.randint(first + 1, high)
    return f"{first}-{last}" if kind == 4 else f"{first}-{last}/{rng.randint(1, last - first)}"


def random_expression(rng: random.Random) -> str:
    bounds = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
    return " ".join(random_field(rng, *bound) for bound in bounds)


def impossible(expression: str) -> bool:
    """Whether no day of a leap year fits. Weekdays alone never rule a date out."""
    named = Named.of(expression)
    if not named.both_days:
        return False
    dates = (date(2024, 1, 1) + timedelta(days=n) for n in range(366))
    return not any(day.day in named.days and day.month in named.months for day in dates)


def test_random_expressions_step_as_cronsim_does_and_count_as_they_step() -> None:
    rng = random.Random(20261031)
    compared = 0
    while compared < 300:
        expression = random_expression(rng)
        if impossible(expression):
            with pytest.raises(InvalidSchedule, match="never comes due"):
                parse_cron(expression)
            continue
        cron = parse_cron(expression)
        start = local("2020-01-01T00:00:00") + rng.randrange(10 * 365 * 86_400)
        forth = CronSim(expression, EPOCH + timedelta(seconds=start))
        back = CronSim(expression, EPOCH + timedelta(seconds=start), reverse=True)
        here = there = start
        for _ in range(8):
            here = cron.first_from(here + 1)
            assert EPOCH + timedelta(seconds=here) == next(forth), expression
            there = cron.last_until(there - 1)
            assert EPOCH + timedelta(seconds=there) == next(back), expression
        assert cron.count(there, here + 1) == 16 + cron.names(start)
        compared += 1


def test_a_count_is_that_of_looking_at_every_time() -> None:
    rng = random.Random(11)
    for _ in range(60):
        expression = random_expression(rng)
        if impossible(expression):
            continue
        cron, named = parse_cron(expression), Named.of(expression)
        start = local("2026-01-25T00:00:00") + 60 * rng.randrange(20 * 1440)
        stop = start + 60 * rng.randrange(3 * 1440)
        walked = [moment for moment in range(start, stop, 60) if moment in named]
        assert cron.count(start, stop) == len(walked), expression
        assert all(cron.names(moment) for moment in walked)
    assert cron.count(stop, start) == 0
