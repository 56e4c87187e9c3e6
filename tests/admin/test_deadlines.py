"""Every pending deadline in one list."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.components.claims.models import Claim
from toa.admin import deadlines
from toa.core.clock import to_datetime
from toa.core.identity import uuid7

pytestmark = pytest.mark.django_db

HOUR = 3_600_000
PAGE = "admin:toa_deadline_changelist"


def claims(now, *offsets, **columns):
    made = [
        Claim(id=uuid7(), log=[], a=to_datetime(now + offset), created_at=to_datetime(now), version=1, **columns)
        for offset in offsets
    ]
    return [row.id.hex for row in Claim.objects.bulk_create(made)]


@pytest.fixture
def listed(root):
    """The ids of a page's instances, and its text."""

    def read(**query):
        response = root.get(reverse(PAGE, query=query or None))
        assert response.status_code == 200
        content = response.content.decode()
        return re.findall(r'class="small">([0-9a-f]{32})<', content), content

    return read


def test_O1_overdue_and_coming_deadlines_stand_in_order_of_time(listed, toa_clock):
    far, late, soon = claims(toa_clock.now, 9 * HOUR, -HOUR, HOUR)
    ids, content = listed()
    assert ids == [late, soon, far]
    assert "1 h late" in content
    assert "in 9 h" in content
    assert listed(due="overdue")[0] == [late]
    assert listed(due="hour")[0] == [soon]
    assert listed(component="components.claims")[0] == [late, soon, far]
    assert listed(component="store.lifecycle")[0] == []


def test_pages_of_deadlines_lead_on_and_back(listed, toa_clock, monkeypatch):
    monkeypatch.setattr(deadlines, "SIZE", 2)
    ids = claims(toa_clock.now, 1, 1, 1, 2, 3)
    found, query = [], {}
    for _ in range(3):
        page, content = listed(**query)
        found += page
        following = re.search(r'href="\?after=([^"&]*)">Next', content)
        query = {"after": unescape(following[1])} if following else query
    assert found == ids
    before = re.search(r'href="\?before=([^"&]*)">‹ Previous', content)[1]
    assert listed(before=before)[0] == ids[2:4]
    before = re.search(r'href="\?before=([^"&]*)">‹ Previous', listed(before=before)[1])[1]
    assert listed(before=before)[0] == ids[:2]


def test_a_deadline_is_found_by_its_instance_even_where_it_stopped(listed, toa_clock):
    claims(toa_clock.now, 1)
    (stopped,) = claims(toa_clock.now, -1, clock_state="failed")
    for term in (stopped, str(Claim.objects.get(id=stopped).id), f"components.claims:{stopped}"):
        ids, content = listed(q=term)
        assert ids == [stopped]
        assert "failed" in content
    assert listed(q="nothing")[0] == []
    assert listed(q="a\0")[0] == []


def test_a_mark_or_a_filter_that_holds_nothing_shows_the_whole_list(listed, toa_clock):
    ids = claims(toa_clock.now, 1)
    for query in ({"after": "x"}, {"before": "\0"}, {"component": "a.b"}, {"due": "x"}):
        assert listed(**query)[0] == ids


def test_the_list_of_deadlines_costs_the_same_with_no_row_one_and_many(root, toa_clock):
    counts = []
    for number in (0, 1, 130):
        Claim.objects.all().delete()
        claims(toa_clock.now, *range(number))
        with CaptureQueriesContext(connection) as queries:
            root.get(reverse(PAGE))
        counts.append(len(queries))
    # The rows of a page are read once for each component that is on it.
    assert counts[1] == counts[2] == counts[0] + 1


def test_O6_deadlines_are_for_those_who_may_view_components(staff, client):
    address = reverse(PAGE)
    assert client.get(address).status_code == 302
    assert staff("view_delay").get(address).status_code == 403
    assert address not in staff("view_delay").get("/admin/").content.decode()
    seen = staff("view_component")
    assert seen.get(address).status_code == 200
    assert address in seen.get("/admin/").content.decode()
