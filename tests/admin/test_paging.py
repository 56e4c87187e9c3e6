"""Counting stops at a bound."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin import rows
from toa.admin.paging import BoundedPaginator
from toa.models import Delay

pytestmark = pytest.mark.django_db


class Five(BoundedPaginator):
    bound = 5


@pytest.mark.parametrize(
    ("stored", "count", "exceeded", "pages"), [(0, 0, False, 1), (4, 4, False, 2), (5, 5, False, 3), (6, 5, True, 3)]
)
def test_what_is_beyond_the_bound_is_not_counted(stored, count, exceeded, pages, toa_clock):
    rows.fill(Delay, stored, toa_clock.now)
    paginator = Five(Delay.objects.order_by("due_at"), 2)
    assert (paginator.count, paginator.exceeded, paginator.num_pages) == (count, exceeded, pages)
    assert len(paginator.page(pages).object_list) == (0 if not stored else count - 2 * (pages - 1))


def test_the_count_is_one_query_that_ends_at_the_bound(toa_clock):
    rows.fill(Delay, 3, toa_clock.now)
    paginator = Five(Delay.objects.order_by("due_at"), 2)
    with CaptureQueriesContext(connection) as queries:
        assert (paginator.count, paginator.exceeded) == (3, False)
    [query] = queries.captured_queries
    assert "LIMIT 6" in query["sql"]
    assert "ORDER BY" not in query["sql"]


def test_a_list_says_that_there_is_more(root, address, toa_clock, monkeypatch):
    rows.fill(Delay, 102, toa_clock.now)
    words = "More than 101: the first 101 are listed. Filter or search for the others."
    assert words not in root.get(address(Delay)).content.decode()
    monkeypatch.setattr(BoundedPaginator, "bound", 101)
    page = root.get(address(Delay))
    assert words in page.content.decode()
    assert page.context["cl"].paginator.num_pages == 2
    assert len(root.get(address(Delay, p=2)).context["cl"].result_list) == 1
    assert root.get(address(Delay, p=3)).status_code == 302
