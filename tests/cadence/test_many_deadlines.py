"""Many instances at once, and rows with calendars of their own."""

from collections import Counter
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from tests.cadence.plans import emptied, plans_of
from tests.components.claims.models import Claim
from tests.components.reminders.models import Reminder
from toa import next_occurrence
from toa.cadence.deadlines.due import DEADLINES
from toa.cadence.passes import Collected, run_pass
from toa.core.clock import to_datetime, to_moment
from toa.core.identity import uuid7
from toa.models import Failure, History

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_deadlines")]

MINUTE = 60_000
HOUR = 60 * MINUTE


def bulk_claims(number, a_sql, held_sql="NULL"):
    """Instances made by one statement; `a_sql` and `held_sql` may speak of their number, `n`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO components_claims_claim (id, log, a, held_at, created_at, updated_at, version)"
            f" SELECT gen_random_uuid(), '[]', {a_sql}, {held_sql}, now(), now(), 1 FROM generate_series(1, {number}) n"
        )
        cursor.execute("ANALYZE components_claims_claim")


def at(moment):
    return f"timestamptz '{to_datetime(moment).isoformat()}'"


@pytest.mark.parametrize("number", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_T18_all_due_in_one_minute_none_lost_none_twice(number, toa_clock, record_property):
    begins = toa_clock.now + HOUR
    bulk_claims(number, f"{at(begins)} + (n % 60000) * interval '1 ms'")
    toa_clock.set(begins + MINUTE)
    toa_clock.run_until_idle()
    with connection.cursor() as cursor:
        cursor.execute("SELECT log::text, a IS NULL, version, count(*) FROM components_claims_claim GROUP BY 1, 2, 3")
        assert cursor.fetchall() == [('["a"]', True, 2, number)]
    assert History.objects.filter(source="deadline", outcome="made").count() == number
    assert History.objects.filter(source="deadline").values("entity").distinct().count() == number
    lateness = sorted(History.objects.filter(source="deadline").values_list("lateness_ms", flat=True))
    record_property("lateness_ms", {"least": lateness[0], "median": lateness[number // 2], "most": lateness[-1]})
    assert 0 < lateness[0] <= lateness[-1] <= MINUTE
    assert not Failure.objects.exists()


def test_T18_the_earliest_are_taken_first_in_a_bounded_step(toa_clock):
    begins = toa_clock.now - HOUR
    bulk_claims(300, f"{at(begins)} + n * interval '1 ms'")
    run_pass(Collected(), limit=100)
    done = list(Claim.objects.filter(a=None).values_list("id", flat=True))
    assert len(done) == 100
    reached = History.objects.filter(source="deadline").order_by("due_at").values_list("due_at", flat=True)
    assert [to_moment(moment) - begins for moment in reached] == list(range(1, 101))


@pytest.mark.parametrize("due", [0, 10])
def test_T22_many_held_instances_at_the_head_cost_a_claim_nothing(due, toa_clock):
    table = Claim._meta.db_table
    emptied(table)
    bulk_claims(20_000, at(toa_clock.now - HOUR), f"{at(toa_clock.now + HOUR)} + n * interval '1 ms'")
    if due:
        bulk_claims(due, at(toa_clock.now - 1))
    looks = [
        plan
        for plan in plans_of(lambda: DEADLINES.step(100, Collected()))
        if table in plan.sql and plan.sql.startswith("SELECT") and " d.id FROM" in plan.sql
    ]
    assert looks[0].root["Actual Rows"] == due
    assert 0 < looks[0].touched(table) <= 20 + due
    assert not looks[0].scanned(table)
    DEADLINES.step(100, Collected())
    assert Claim.objects.filter(a=None).count() == due


ZONES = ("Asia/Tokyo", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC")


@pytest.mark.parametrize("number", [300, pytest.param(100_000, marks=pytest.mark.slow)])
def test_S18_each_row_comes_due_at_its_own_local_time_once(number, toa_clock):
    start = toa_clock.now
    wanted = {}
    rows = []
    for index in range(number):
        zone, hour, minute = ZONES[index % len(ZONES)], index % 24, index // 24 % 12 * 5
        expression = f"{minute} {hour} * * *"
        first = next_occurrence(expression, zone, after=start)
        row = Reminder(
            id=uuid7(),
            expression=expression,
            zone=zone,
            rang=[],
            ring_at=to_datetime(first),
            created_at=to_datetime(start),
            updated_at=to_datetime(start),
            version=1,
        )
        wanted[row.id] = (zone, hour, minute)
        rows.append(row)
    Reminder.objects.bulk_create(rows, batch_size=5_000)
    if number <= 300:
        toa_clock.advance("24h")
    else:
        # An hour late at the most: what a row sets next counts from the moment that came due.
        for _ in range(24):
            toa_clock.set(toa_clock.now + HOUR)
            toa_clock.run_until_idle()
    seen = Counter()
    for row in Reminder.objects.iterator():
        zone, hour, minute = wanted[row.id]
        assert len(row.rang) == 1, "once in a day"
        local = datetime.fromtimestamp(row.rang[0] / 1000, UTC).astimezone(ZoneInfo(zone))
        assert (local.hour, local.minute, local.second) == (hour, minute, 0)
        assert start < row.rang[0] <= start + 24 * HOUR < to_moment(row.ring_at)
        seen[zone] += 1
    assert sum(seen.values()) == number
    assert not Failure.objects.exists()
