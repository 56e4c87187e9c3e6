"""One page leads to the next and back, without a gap or a repetition, however many rows there are."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin import rows
from toa.admin.keyset import Order
from toa.admin.live import DelayAdmin
from toa.admin.records import RecordAdmin
from toa.core.clock import to_datetime
from toa.models import Delay, Delivery, Failure, History, Process

pytestmark = pytest.mark.django_db

HOUR = 3_600_000


@pytest.fixture
def small(monkeypatch):
    """Three rows on a page."""
    for admin in (DelayAdmin.__mro__[1], RecordAdmin):
        monkeypatch.setattr(admin, "list_per_page", 3)


@pytest.fixture
def walk(root):
    """The pages of a list from an address on, following the links of a direction."""

    def pages(address, words):
        while address is not None:
            response = root.get(address)
            assert response.status_code == 200, response
            yield [row.pk for row in response.context["cl"].result_list]
            found = re.search(rf'<a href="([^"]*)">{words}</a>', response.content.decode())
            address = None if found is None else urlsplit(address)._replace(query=unescape(found[1])[1:]).geturl()
            request = response.request
            pages.last = f"{request['PATH_INFO']}?{request['QUERY_STRING']}"

    return pages


def there_and_back(walk, address, expected):
    forward = list(walk(address, "Next ›"))
    assert [key for page in forward for key in page] == expected
    assert all(len(page) == 3 for page in forward[:-1])
    assert list(walk(walk.last, "‹ Previous"))[::-1] == forward


@pytest.mark.parametrize("model", [Delay, History, Failure])
def test_pages_follow_one_another_where_many_have_one_moment(model, small, walk, address, toa_clock):
    for offset in (0, 0, 0, 0, 1000, 1000, 2000, 2000):
        rows.MAKERS[model](toa_clock.now, offset)
    names = ("due_at", "id") if model is Delay else ("-at", "-id")
    there_and_back(walk, address(model), [row.pk for row in model.objects.order_by(*names)])


def test_pages_of_a_component_merge_its_endpoints_and_end_with_what_is_parked(small, walk, address, toa_clock):
    for number in range(9):
        moment = to_datetime(toa_clock.now + number // 2 * 1000)
        rows.delivery(
            toa_clock.now,
            endpoint=f"fulfilment.stock.{('reserve', 'release')[number % 2]}",
            wake_at=None if number > 4 else moment,
        )
    rows.delivery(toa_clock.now, endpoint="loyalty.deliver")
    expected = Delivery.objects.filter(receiver="fulfilment.stock", endpoint__startswith="fulfilment.stock.")
    there_and_back(
        walk, address(Delivery, component="fulfilment.stock"), [row.pk for row in expected.order_by("wake_at", "id")]
    )


def test_the_links_keep_filters_and_search_and_a_filter_begins_at_the_beginning(small, root, address, toa_clock):
    for offset in range(5):
        rows.delay(toa_clock.now, -offset * 1000)
    first = root.get(address(Delay, due="overdue", q=rows.ORDER)).context["cl"]
    assert {"due": ["overdue"], "q": [rows.ORDER]}.items() <= parse_qs(first.next[1:]).items()
    second = root.get(address(Delay) + first.next)
    links = re.findall(r'<a href="\?([^"]*)">(?:Overdue|In the next hour|All)</a>', second.content.decode())
    assert links
    assert not any("after" in parse_qs(unescape(link)) for link in links)
    assert 'name="after"' not in second.content.decode()


@pytest.mark.parametrize("mark", ["x", "", "\0", "WyJhIl0"])
@pytest.mark.parametrize("name", ["after", "before"])
def test_a_mark_that_is_none_leads_to_the_whole_list(name, mark, root, address, toa_clock):
    assert root.get(address(Delay, **{name: mark})).status_code == 302


def test_a_mark_of_another_list_is_no_place_in_this_one(small, root, address, toa_clock):
    for offset in range(5):
        rows.delay(toa_clock.now, offset)
        rows.history(toa_clock.now, offset)
    mark = parse_qs(root.get(address(Delay)).context["cl"].next[1:])["after"][0]
    assert root.get(address(History, after=mark)).status_code == 302


def test_no_page_counts_or_skips_rows(small, root, address, toa_clock):
    for offset in range(7):
        rows.delay(toa_clock.now, offset)
    page = root.get(address(Delay)).context["cl"]
    with CaptureQueriesContext(connection) as queries:
        root.get(address(Delay) + page.next)
    [read] = [one["sql"] for one in queries.captured_queries if '"toa_delay"' in one["sql"]]
    assert "COUNT" not in read.upper()
    assert "OFFSET" not in read.upper()
    assert "LIMIT 4" in read


def test_the_page_before_the_second_is_the_first_and_whole(small, root, address, toa_clock):
    made = [rows.delay(toa_clock.now, offset) for offset in range(5)]
    second = root.get(address(Delay) + root.get(address(Delay)).context["cl"].next).context["cl"]
    # What came in between belongs on the first page.
    early = rows.delay(toa_clock.now, -1)
    back = root.get(address(Delay) + second.previous).context["cl"]
    assert list(back.result_list) == [made[0], made[1], made[2]]
    assert list(root.get(address(Delay) + back.previous).context["cl"].result_list) == [early, made[0], made[1]]


def test_an_order_that_goes_both_ways_is_refused():
    with pytest.raises(ImproperlyConfigured, match="up and down"):
        Order.by(Process._meta, ("-seen_at", "id"))
