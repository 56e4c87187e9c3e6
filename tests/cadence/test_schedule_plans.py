"""How the database finds due schedules among many: by the claiming index, whatever is pending."""

import json

import pytest
from django.db import connection

from tests.cadence.calendar import EXACT, HOUR, NOTE, STAMP
from toa.cadence.schedules.due import SCHEDULES
from toa.cadence.schedules.occurring import find_sql
from toa.core.clock import to_datetime
from toa.models import Schedule

pytestmark = pytest.mark.django_db

MANY = 30_000


@pytest.fixture
def many(calendar, toa_clock):
    """Schedules without number on three endpoints, a few of them due."""
    calendar.declare(schedule="0 * * * *")
    copied = [
        field.column for field in Schedule._meta.fields if field.name not in ("id", "endpoint", "name", "wake_at")
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO toa_schedule (id, endpoint, name, wake_at, {', '.join(copied)})"
            f" SELECT gen_random_uuid(), (%s::text[])[n %% 3 + 1], 's' || n,"
            f" CASE WHEN n %% 10000 = 0 THEN %s ELSE %s END, {', '.join(copied)}"
            f" FROM toa_schedule, generate_series(1, %s) n WHERE endpoint = %s AND name = ''",
            [
                [NOTE, EXACT, STAMP],
                to_datetime(toa_clock.now),
                to_datetime(toa_clock.now + 1000 * HOUR),
                MANY,
                NOTE,
            ],
        )
        cursor.execute("ANALYZE toa_schedule")
    return Schedule.objects.filter(wake_at=to_datetime(toa_clock.now)).count()


def explained(sql, parameters):
    """The plan as executed, and the buffers that reading schedules touched."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", parameters)
        found = cursor.fetchone()[0]
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    reads = [node for node in nodes(plan) if node.get("Relation Name") == "toa_schedule"]
    return plan, sum(node["Shared Hit Blocks"] + node["Shared Read Blocks"] for node in reads)


def nodes(plan):
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def scans(plan):
    """How `toa_schedule` is read: kind of scan and index."""
    return {
        (node["Node Type"], node.get("Index Name"))
        for node in nodes(plan)
        if node.get("Relation Name") == "toa_schedule"
    }


def test_what_is_due_is_found_by_the_claiming_index(many):
    plan, buffers = explained(find_sql(), [[NOTE, EXACT, STAMP], 100])
    assert plan["Actual Rows"] == many
    assert scans(plan) <= {
        ("Index Scan", "toa_schedule_claim"),
        ("Index Only Scan", "toa_schedule_claim"),
    }
    assert buffers < 60, "a descent for each endpoint, and what is due"


def test_a_look_at_what_comes_reads_a_few_pages(many):
    sql, parameters = SCHEDULES.horizon()
    plan, buffers = explained(sql, parameters)
    assert {index for _, index in scans(plan)} == {"toa_schedule_claim"}
    assert buffers < 60
