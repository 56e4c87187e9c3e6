"""The Clock page says how it stands, and costs the same on a bad day."""

import re
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin import rows
from tests.admin.reading import text_of
from tests.orders.placing import configured, fill, place
from toa.cadence.reports import coming as hours
from toa.cadence.reports.backlog import Count
from toa.cadence.reports.coming import coming
from toa.models import Delay, Failure

pytestmark = pytest.mark.django_db

ADDRESS = "/admin/toa/clock/"
HOUR = 3_600_000


def test_O5_nobody_alive_is_the_first_thing_that_is_said_with_what_to_start(root, toa_clock):
    page = root.get(ADDRESS)
    assert page.context["level"] == "down"
    sentence = re.search(r'<p class="toa-health toa-health-down" role="status">(.*?)</p>', page.content.decode())[1]
    assert "no beat is alive" in sentence
    assert "<code>manage.py toa run</code>" in sentence


def test_all_is_well_with_a_runner_and_nothing_late(root, toa_clock):
    rows.process(toa_clock.now, kind="run", capacity=4, seen_at=rows_now())
    page = root.get(ADDRESS)
    assert page.context["level"] == "ok"
    assert "All is well" in text_of(page)
    assert "None waits for a decision" in text_of(page)


def rows_now():
    """Heartbeats are written by the database's own clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        return cursor.fetchone()[0]


def test_it_is_linked_from_the_index_for_those_who_may_see_processes(root, staff, toa_clock):
    assert f'href="{ADDRESS}"' in root.get("/admin/").content.decode()
    assert f'href="{ADDRESS}"' in root.get("/admin/toa/").content.decode()
    assert staff("view_delay").get(ADDRESS).status_code == 403
    allowed = staff("view_process")
    assert allowed.get(ADDRESS).status_code == 200
    rows.failure(toa_clock.now, error="SecretError: of somebody")
    assert "SecretError" not in allowed.get(ADDRESS).content.decode()
    assert "SecretError" in staff("view_process", "view_failure").get(ADDRESS).content.decode()


def test_what_comes_due_is_counted_by_hour_and_source(toa_clock):
    Delay.objects.all().delete()
    now = toa_clock.now
    for due in (-1, 0, 1, HOUR - 1, HOUR, 2 * HOUR, 24 * HOUR, 24 * HOUR + 1):
        rows.delay(now, due)
    rows.delivery(now, 90 * 60_000)
    fill("tea", 10)
    with configured(expiry="process"):
        place("A-1")
        toa_clock.run_until_idle()
    found = coming()
    counts = {
        (hour.begins - now) // HOUR: {kind: count.number for kind, count in hour.counts.items() if kind != "pulse"}
        for hour in found.hours
    }
    # It is twelve o'clock: the hours are whole, and what is due now is due already.
    assert {hour: named for hour, named in counts.items() if named} == {
        0: {"delay": 2},
        1: {"delay": 1, "delivery": 1},
        2: {"delay": 1},
        24: {"delay": 1, "deadline": 1},
    }
    assert all(hour.counts["pulse"].number > 0 for hour in found.hours[:-1])


def test_counting_ends_at_a_ceiling_and_says_so(root, toa_clock):
    for number in range(4):
        rows.delay(toa_clock.now, 60_000 + number)
    with mock.patch.object(hours, "CEILING", 3):
        assert coming().hours[0].counts["delay"] == Count(3, True)
        page = root.get(ADDRESS).content.decode()
    assert ">+</text>" in page
    assert "3+" in page


def test_the_chart_has_its_numbers_in_words_and_in_a_table(root, toa_clock):
    for number in range(7):
        rows.delay(toa_clock.now, 60_000 + number)
    page = root.get(ADDRESS).content.decode()
    [chart] = re.findall(r'<svg class="toa-chart".*?</svg>', page, re.DOTALL)
    assert 'role="img" aria-label="What comes due in the next 24 hours, hour by hour: 7 in all.' in chart
    assert "<title>12:00 to 13:00: 7 delays" in chart
    assert chart.count('class="toa-delay"') == 1
    assert re.search(r'<th scope="row" class="nowrap">12:00 to 13:00</th><td>-</td><td>7</td>', page)
    assert not re.search(r"https?://|<script[^>]*>[^<]", chart)


def test_lateness_is_told_of_the_calls_that_were_made_last(root, toa_clock):
    for lateness in (5, 10, 3_000):
        rows.history(toa_clock.now, -1_000, lateness)
    rows.history(toa_clock.now, -1_000, 60_000, outcome="expired")
    [delays] = [one for one in root.get(ADDRESS).context["sources"] if one["kind"] == "delay"]
    assert delays["made"] == "10 ms, 3 s"


def test_it_costs_the_same_with_little_and_with_much(root, toa_clock):
    root.get(ADDRESS)
    counts = []
    for number in (1, 60):
        for place_ in range(number):
            rows.delay(toa_clock.now, place_ * 1_000 - 5_000)
            rows.delivery(toa_clock.now, place_ * 1_000 - 5_000)
            rows.failure(toa_clock.now, -place_)
            rows.history(toa_clock.now, -place_)
        with CaptureQueriesContext(connection) as queries:
            page = root.get(ADDRESS)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert len(page.context["failures"]) == 5
    assert page.context["failed"] == str(Failure.objects.count())
