"""S15: over ten years and every distinct zone rule, ticks are those that a slow walk finds."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core import tzif
from tests.core.moment import ms
from tests.core.walker import walk
from toa.core.recurrence import Missed, Schedule
from toa.core.stretch import Fold, Gap
from toa.core.zones import load_zone, zone_names

DAY = 86_400
START, STOP = ms("2022-01-01T00:00:00") // 1000, ms("2032-01-01T00:00:00") // 1000
RULES = tzif.distinct_rules(START, STOP)

FIXED = (
    "30 2 * * *",
    "0 0 * * *",
    "30 23 * * *",
    "15,45 1,2,3 * * *",
    "*/20 0-3 * * *",
    "0 0-23 * * *",
    "0 3 * * 0",
    "59 1 1-7 * 0",
    "0 0 1,15,31 * *",
    "30 1 */2 * 6",
)
STEPPED = ("0 * * * *", "*/30 * * * *", "10-50/20 */3 * * *", "0 */2 * * 0", "45 * 1 * *", "* */6 * * *")
SECONDS = ("*/20 30 2 * * *", "30 */15 * * * *", "59 59 1,2 * * *")
POLICIES: tuple[tuple[Gap, Fold], ...] = (
    ("end", "first"),
    ("shift", "first"),
    ("skip", "first"),
    ("end", "both"),
    ("shift", "both"),
)


def agrees(schedule: Schedule, start: int, stop: int, rng: random.Random, step: int = 60) -> None:
    """Compare every question a schedule answers with a walk from `start` up to `stop`, in epoch seconds."""
    expected = [
        tick * 1000
        for tick in walk(
            schedule.expression, schedule.zone, start, stop, gap=schedule.gap, fold=schedule.fold, step=step
        )
    ]
    first, last = start * 1000 - 1, stop * 1000 - 1
    if len(expected) < 200:
        assert schedule.occurrences(first, last, 1000) == expected
        assert schedule.latest(first, last, 1000) == expected
    moments = [rng.randrange(first, last) for _ in range(8)] + rng.sample(expected, min(8, len(expected)))
    for moment in moments:
        place = bisect_right(expected, moment)
        if place < len(expected):
            assert schedule.next_after(moment) == expected[place]
        place = bisect_left(expected, moment)
        if place > 0:
            assert schedule.previous_before(moment) == expected[place - 1]
    for after, until in pairwise(sorted({first, *moments, last})):
        within = expected[bisect_right(expected, after) : bisect_right(expected, until)]
        counted = Missed(first=within[0], last=within[-1], count=len(within)) if within else None
        assert schedule.missed(after, until) == counted


def windows() -> Iterator[tuple[str, int]]:
    """Each change of each distinct rule in ten years: a zone that has it, and its moment."""
    for (_, shifts), zone in RULES.items():
        for shift in shifts:
            yield zone, shift.at // 60 * 60


def test_S15_next_is_what_a_walk_finds_within_two_days_of_changes() -> None:
    rng = random.Random(15)
    for zone, change in rng.sample(list(windows()), 120):
        gap, fold = rng.choice(POLICIES)
        schedule = Schedule(rng.choice(FIXED + STEPPED), zone, gap=gap, fold=fold)
        agrees(schedule, change - 2 * DAY, change + 2 * DAY, rng)


def test_S15_next_is_what_a_walk_finds_at_random_elsewhere() -> None:
    rng = random.Random(16)
    for zone in rng.sample(sorted(RULES.values()), 40):
        start = rng.randrange(START + 3 * DAY, STOP - 5 * DAY) // 60 * 60
        agrees(Schedule(rng.choice(FIXED + STEPPED), zone), start, start + 4 * DAY, rng)


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("America/New_York", "2026-03-08"),
        ("America/New_York", "2026-11-01"),
        ("Australia/Lord_Howe", "2026-10-03"),
        ("Australia/Lord_Howe", "2026-04-04"),
        ("Antarctica/Troll", "2026-03-29"),
        ("Antarctica/Troll", "2026-10-25"),
        ("Europe/Dublin", "2026-10-25"),
        ("Africa/Casablanca", "2026-02-15"),
        ("America/Santiago", "2026-09-06"),
        ("America/Nuuk", "2026-03-28"),
        ("America/Nuuk", "2026-10-24"),
        ("Pacific/Apia", "2011-12-30"),
        ("Pacific/Kwajalein", "1969-09-30"),
        ("Pacific/Kwajalein", "1993-08-21"),
        ("Asia/Pyongyang", "2018-05-04"),
        ("America/Caracas", "2007-12-09"),
    ],
)
def test_S15_every_kind_of_change_under_every_rule(zone: str, day: str) -> None:
    rng = random.Random(zone + day)
    middle = ms(f"{day}T12:00:00") // 1000
    for expression in FIXED + STEPPED:
        policies = POLICIES if expression in FIXED[:4] else POLICIES[:1]
        for gap, fold in policies:
            schedule = Schedule(expression, zone, gap=gap, fold=fold)
            agrees(schedule, middle - 2 * DAY, middle + 2 * DAY, rng)


@pytest.mark.parametrize("expression", SECONDS)
def test_S15_schedules_with_seconds_agree_with_a_walk_over_seconds(expression: str) -> None:
    rng = random.Random(expression)
    for zone, change in (
        ("America/New_York", "2026-03-08T07:00:00"),
        ("America/New_York", "2026-11-01T06:00:00"),
        # Monrovia's clocks went 44 min 30 s ahead.
        ("Africa/Monrovia", "1972-01-07T00:44:30"),
    ):
        middle = ms(change) // 1000
        agrees(Schedule(expression, zone), middle - 4 * 3600, middle + 4 * 3600, rng, step=1)


@pytest.mark.slow
@pytest.mark.parametrize("expression", FIXED + STEPPED)
def test_S15_all_of_it(expression: str) -> None:
    rng = random.Random(expression)
    for zone, change in windows():
        gap, fold = rng.choice(POLICIES)
        schedule = Schedule(expression, zone, gap=gap, fold=fold)
        agrees(schedule, change - 2 * DAY, change + 2 * DAY, rng)
    for zone in RULES.values():
        start = rng.randrange(START + 3 * DAY, STOP - 9 * DAY) // 60 * 60
        agrees(Schedule(expression, zone), start, start + 8 * DAY, rng)


def nominal_tick(day: date, clock: timedelta, zone: str) -> int:
    """The moment of a nominal local time by Python's arithmetic: its first pass, or the end of its gap."""
    rules = load_zone(zone)
    named = datetime(day.year, day.month, day.day) + clock
    moment = named.replace(tzinfo=rules).astimezone(UTC)
    if moment.astimezone(rules).replace(tzinfo=None) == named:
        return round(moment.timestamp())
    # In a gap, the fold of 1 lies before the change and that of 0 after it.
    low, high = (round(named.replace(tzinfo=rules, fold=fold).astimezone(UTC).timestamp()) for fold in (1, 0))
    offset_after = datetime.fromtimestamp(high, rules).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, rules).utcoffset() == offset_after:
            high = middle
        else:
            low = middle
    return high


@pytest.mark.parametrize("clock", ["00:00", "00:30", "01:30", "02:00", "02:15", "23:30", "23:59"])
def test_S15_each_nominal_local_day_has_exactly_one_tick(clock: str) -> None:
    rng = random.Random(clock)
    hour, minute = map(int, clock.split(":"))
    time_of_day = timedelta(hours=hour, minutes=minute)
    for zone in rng.sample(sorted(RULES.values()), 12):
        first = date(rng.randrange(2022, 2031), rng.randrange(1, 13), 1)
        days = [first + timedelta(days=n) for n in range(400)]
        expected = [nominal_tick(day, time_of_day, zone) * 1000 for day in days]
        assert len(set(expected)) == len(days)
        found = Schedule(f"{minute} {hour} * * *", zone).occurrences(expected[0] - 1, expected[-1], 1000)
        assert found == expected, zone


def test_S15_fixed_times_agree_with_cronsim_through_changes() -> None:
    # cronsim follows Debian: the same for fixed minutes and hours, asked from outside a repeated hour.
    rng = random.Random(17)
    for zone, change in rng.sample(list(windows()), 150):
        expression = rng.choice(("30 2 * * *", "0 3 * * 0", "15,45 1,2 * * *", "5 0 * * *", "30 23 * * *"))
        start = (change - 2 * DAY) * 1000
        theirs = CronSim(expression, datetime.fromtimestamp(start // 1000, load_zone(zone)))
        ours = Schedule(expression, zone).occurrences(start, start + 4 * DAY * 1000, 1000)
        assert ours == [round(next(theirs).timestamp()) * 1000 for _ in ours], (expression, zone, change)


@st.composite
def fields(draw: st.DrawFn, low: int, high: int) -> str:
    kind = draw(st.sampled_from(("star", "step", "list", "range")))
    if kind == "star":
        return "*"
    if kind == "step":
        return f"*/{draw(st.integers(1, high - low))}"
    values = sorted(draw(st.sets(st.integers(low, high), min_size=2, max_size=4)))
    return ",".join(map(str, values)) if kind == "list" else f"{values[0]}-{values[-1]}"


EXPRESSIONS = st.builds(
    lambda *parts: " ".join(parts),
    fields(0, 59),
    fields(0, 59),
    fields(0, 23),
    fields(1, 28),
    fields(1, 12),
    fields(0, 6),
)


@settings(max_examples=150, deadline=None)
@given(
    expression=EXPRESSIONS,
    zone=st.sampled_from(sorted(zone_names())),
    policy=st.sampled_from(POLICIES),
    cursor=st.integers(ms("1860-01-01T00:00:00"), ms("2200-01-01T00:00:00")),
    ahead=st.integers(0, 40 * DAY * 1000),
)
def test_S15_next_is_strictly_after_cursor_and_now_and_monotone(
    expression: str, zone: str, policy: tuple[Gap, Fold], cursor: int, ahead: int
) -> None:
    gap, fold = policy
    schedule = Schedule(expression, zone, gap=gap, fold=fold)
    now = cursor + ahead
    following, later = schedule.next_after(cursor), schedule.next_after(now)
    assert following is not None
    assert later is not None
    assert following > cursor
    assert later > now
    assert later >= following
    assert following % 1000 == 0
    # Both directions see the same ticks, and none lies between.
    assert schedule.previous_before(following + 1) == following
    before = schedule.previous_before(following)
    assert before is not None
    assert before <= cursor
    assert schedule.next_after(before) == following
    assert schedule.missed(cursor, following) == Missed(first=following, last=following, count=1)
