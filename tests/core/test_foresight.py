"""What a change of the clocks does to a schedule, told ahead and beside the tick it explains."""

from datetime import UTC, datetime

import pytest

from toa.core.clock import to_moment
from toa.core.foresight import explanation, touched
from toa.core.recurrence import Schedule


def at(text):
    return to_moment(datetime.fromisoformat(text).replace(tzinfo=UTC))


YEAR = (at("2026-01-01"), at("2027-01-01"))


def sentences(*arguments, **rules):
    return [one.sentence for one in touched(Schedule(*arguments, **rules), *YEAR)]


@pytest.mark.parametrize(
    ("rules", "gap", "fold"),
    [
        ({}, "it ticks once, at 03:00 (gap: end)", "it ticks the first time alone (fold: first)"),
        ({"gap": "shift", "fold": "both"}, "it ticks at 03:30 (gap: shift)", "it ticks both times (fold: both)"),
        ({"gap": "skip"}, "it does not tick (gap: skip)", "it ticks the first time alone (fold: first)"),
    ],
)
def test_each_rule_is_told(rules, gap, fold):
    assert sentences("30 2 * * *", "Europe/Berlin", **rules) == [
        f"29 March 2026: 02:30 does not exist, the clocks in Europe/Berlin go from 02:00 to 03:00; {gap}",
        f"25 October 2026: 02:30 comes twice, the clocks in Europe/Berlin go from 03:00 to 02:00; {fold}",
    ]


def test_several_times_are_counted():
    first, second = sentences("15,45 2 * * *", "Europe/Berlin")
    assert first.startswith("29 March 2026: 02:15 and 1 more do not exist, ")
    assert second.startswith("25 October 2026: 02:15 and 1 more come twice, ")


def test_days_that_the_schedule_does_not_name_are_not_touched():
    assert sentences("30 2 * * mon", "Europe/Berlin") == []
    assert len(sentences("30 2 * * sun", "Europe/Berlin")) == 2
    assert sentences("30 2 * * *", "UTC") == sentences("30 * * * *", "Europe/Berlin") == []


def test_a_change_before_midnight_is_told_with_the_date_of_the_time_that_is_skipped():
    (first,) = sentences("30 23 28 3 *", "America/Nuuk")
    assert first.startswith("28 March 2026: 23:30 does not exist, ")
    assert first.endswith("it ticks once, at 00:00 (gap: end)")


@pytest.mark.parametrize(
    ("rules", "explained"),
    [
        ({}, ["2026-03-08 07:00", "2026-11-01 06:30"]),
        ({"gap": "shift"}, ["2026-03-08 07:30", "2026-11-01 06:30"]),
        ({"gap": "skip"}, ["2026-11-01 06:30"]),
        ({"fold": "both"}, ["2026-03-08 07:00", "2026-11-01 06:30", "2026-11-01 07:30"]),
    ],
)
def test_a_tick_is_explained_where_a_change_put_it(rules, explained):
    """2:30 in New York in March, and 1:30 in Chicago in November, on the day of the change and around it."""
    march = Schedule("30 2 * * *", "America/New_York", **rules)
    november = Schedule("30 1 * * *", "America/Chicago", **rules)
    ticks = [
        *((march, tick) for tick in march.occurrences(at("2026-03-05"), at("2026-03-12"), 20)),
        *((november, tick) for tick in november.occurrences(at("2026-10-29"), at("2026-11-05"), 20)),
    ]
    assert len(ticks) >= 13
    assert [tick for schedule, tick in ticks if explanation(schedule, tick)] == [at(text) for text in explained]
