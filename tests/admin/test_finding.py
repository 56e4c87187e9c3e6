"""Filters, search and order of the lists."""

import re
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin import rows
from toa.core.clock import to_datetime
from toa.models import Component, Delay, Delivery, Failure, History, Pulse, Revision, Schedule, ScheduledCall

pytestmark = pytest.mark.django_db

HOUR = 3_600_000
OTHER = "0193f0a07c5b7c3e9d8f000000000002"


@pytest.fixture
def found(root, address):
    """The rows of a list, in its order."""

    def rows_of(model, **query):
        response = root.get(address(model, **query))
        assert response.status_code == 200, response
        return list(response.context["cl"].result_list)

    return rows_of


def test_what_is_most_overdue_comes_first(found, toa_clock):
    late, soon, far = (rows.delay(toa_clock.now, due) for due in (-HOUR, 1, 9 * HOUR))
    assert found(Delay) == [late, soon, far]
    assert found(Delay, endpoint="store.orders.cancel") == [late, soon, far]


def test_what_was_settled_last_comes_first(found, toa_clock):
    old, new = (rows.history(toa_clock.now, at) for at in (-HOUR, -1))
    assert found(History) == [new, old]
    old, new = (rows.failure(toa_clock.now, at) for at in (-HOUR, -1))
    assert found(Failure) == [new, old]


@pytest.mark.parametrize("order", ["0", "-0", "1.-2", "7", "x", "-"])
def test_no_address_asks_for_an_order_that_no_index_has(order, found, toa_clock):
    expected = [rows.delay(toa_clock.now, due, endpoint=f"b.{9 - due}") for due in range(3)]
    assert found(Delay, o=order) == expected


@pytest.mark.parametrize(("make", "model"), [(rows.delay, Delay), (rows.delivery, Delivery), (rows.pulse, Pulse)])
def test_overdue_and_next_hour_meet_at_now(make, model, found, toa_clock):
    made = {due: make(toa_clock.now, due) for due in (-HOUR, 0, 1, HOUR, HOUR + 1)}
    assert set(found(model, due="overdue")) >= {made[-HOUR], made[0]}
    assert not {made[1], made[HOUR], made[HOUR + 1]} & set(found(model, due="overdue"))
    assert {made[1], made[HOUR]} == set(found(model, due="hour")) & set(made.values())


def test_filters_go_by_the_clock_in_force(found, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    toa_clock.set(toa_clock.now + HOUR)
    assert found(Delay, due="overdue") == [row]


def test_parked_deliveries_can_be_listed(found, toa_clock):
    rows.delivery(toa_clock.now)
    parked = rows.delivery(toa_clock.now, wake_at=None)
    assert found(Delivery, due="parked") == [parked]


def test_the_long_filter_by_endpoint_is_folded_until_one_is_chosen(root, address, toa_clock):
    for query, opened in (({}, False), ({"endpoint": "store.orders.cancel"}, True)):
        page = root.get(address(Delay, **query)).content.decode()
        [folded] = re.findall(r'<details class="toa-folded" data-filter-title="endpoint"( open)?>', page)
        assert bool(folded) is opened


def test_filters_by_endpoint_outcome_and_component_join(found, toa_clock):
    now = toa_clock.now
    cancelled = rows.history(now, endpoint="store.orders.cancel", outcome="refused")
    rows.history(now, endpoint="store.orders.cancel", outcome="made")
    approved = rows.history(now, endpoint="store.orders.approve", outcome="refused")
    rows.history(now, endpoint="fulfilment.stock.reserve", outcome="refused")
    assert found(History, endpoint="store.orders.cancel", outcome="refused") == [cancelled]
    assert set(found(History, component="store.orders", outcome="refused")) == {cancelled, approved}


def test_a_component_has_the_calls_of_its_retired_operations_too(found, toa_clock):
    row = rows.history(toa_clock.now, endpoint="store.orders.gone")
    rows.history(toa_clock.now, endpoint="store.others.gone")
    synced = Component.objects.get(locator="store.orders")
    synced.operations |= {"gone": {"type": "transition", "retired_at": 1}}
    synced.save()
    assert found(History, component="store.orders") == [row]


def test_the_endpoints_offered_are_those_of_the_manifests(root, address, toa_clock):
    rows.delay(toa_clock.now, endpoint="unknown.to.us")

    def offered(**query):
        page = root.get(address(Delay, **query)).context["cl"]
        [endpoints] = [one for one in page.filter_specs if one.parameter_name == "endpoint"]
        return {value for value, _ in endpoints.lookup_choices}

    everything = offered()
    assert {"store.orders.cancel", "store.orders.expire", "fulfilment.stock.reserve"} <= everything
    assert not {"unknown.to.us", "store.orders.observe"} & everything
    assert offered(component="store.orders") == {one for one in everything if one.startswith("store.orders.")}


@pytest.mark.parametrize("query", [{"endpoint": "a\0"}, {"due": "x"}, {"component": "a.b"}])
def test_a_value_that_no_filter_offers_leads_to_the_whole_list(query, root, address, toa_clock):
    response = root.get(address(Delay, **query))
    assert response.status_code == 302
    assert response.url.endswith("?e=1")


@pytest.mark.parametrize(
    "lookup", ["traceback__regex", "error__icontains", "entity", "at__gte", "request__has_key", "outcome__exact"]
)
def test_no_address_looks_into_columns_that_no_filter_names(lookup, root, address, toa_clock):
    assert root.get(address(Failure, **{lookup: "x"})).status_code == 400


def spellings(identity: UUID):
    return [identity.hex, str(identity), identity.hex.upper(), f"  {identity} ", identity.urn]


def test_a_call_is_found_by_its_id_however_it_is_spelled(found, toa_clock):
    for model in (Delay, Delivery, Pulse):
        row, _ = (rows.MAKERS[model](toa_clock.now) for _ in range(2))
        for term in spellings(row.id):
            assert found(model, q=term) == [row]
    for model in (History, Failure):
        row, _ = (rows.MAKERS[model](toa_clock.now) for _ in range(2))
        for term in [*spellings(row.id), *spellings(row.call)]:
            assert found(model, q=term) == [row]


@pytest.mark.parametrize("model", [Delay, History, Failure])
@pytest.mark.parametrize("term", [rows.ENTITY, rows.ORDER, str(UUID(rows.ORDER)), f"store.orders:{UUID(rows.ORDER)}"])
def test_calls_are_found_by_their_entity(model, term, found, toa_clock):
    row = rows.MAKERS[model](toa_clock.now)
    rows.MAKERS[model](toa_clock.now, entity=f"store.orders:{OTHER}")
    assert found(model, q=term) == [row]


def test_calls_are_found_by_an_id_that_is_no_uuid(found, toa_clock):
    row = rows.history(toa_clock.now, entity="fulfilment.stock:P 001")
    assert found(History, q="P 001") == found(History, q="fulfilment.stock:P 001") == [row]


def test_deliveries_are_found_by_the_entity_that_changed(found, toa_clock):
    row = rows.delivery(toa_clock.now, source_id=rows.ORDER)
    rows.delivery(toa_clock.now, source_id=OTHER)
    for term in (rows.ORDER, rows.ENTITY, str(UUID(rows.ORDER))):
        assert found(Delivery, q=term) == [row]


@pytest.mark.parametrize("model", [Delay, Delivery, History, Failure, Pulse])
@pytest.mark.parametrize(
    "term", ["0193", "%", "store.orders", ":", "0193f0a07c5b7c3e9d8f00000000ffff", "'; --", '"', "😀"]
)
def test_a_search_is_exact(model, term, found, toa_clock):
    rows.MAKERS[model](toa_clock.now)
    assert found(model, q=term) == []


def test_a_search_with_a_null_character_finds_nothing_and_is_no_fault(root, address, toa_clock):
    rows.delay(toa_clock.now)
    assert root.get(address(Delay, q="a\0")).status_code == 200


def test_a_search_joins_with_filters(found, toa_clock):
    late = rows.delay(toa_clock.now, -1)
    rows.delay(toa_clock.now, 1)
    assert found(Delay, q=rows.ORDER, due="overdue") == [late]


def test_choices_are_never_counted(root, address, toa_clock):
    rows.delay(toa_clock.now)
    with CaptureQueriesContext(connection) as queries:
        page = root.get(address(Delay, _facets="True")).content.decode()
    assert len(queries) == 3
    assert "Show counts" not in page


def test_a_list_reads_no_column_that_it_does_not_show(root, address, toa_clock):
    rows.failure(toa_clock.now)
    with CaptureQueriesContext(connection) as queries:
        root.get(address(Failure))
    read = queries.captured_queries[-1]["sql"]
    assert '"toa_failure"."error"' in read
    assert not any(f'"toa_failure"."{column}"' in read for column in ("traceback", "request", "row"))


def test_the_next_look_is_shown_by_the_moment_of_the_row(found, toa_clock):
    rows.delay(toa_clock.now, wake_at=to_datetime(toa_clock.now))
    assert found(Delay)[0].read_at == to_datetime(toa_clock.now)


def test_what_no_index_has_is_looked_for_among_the_newest_and_the_page_says_so(
    found, root, address, toa_clock, monkeypatch
):
    monkeypatch.setattr("toa.admin.records.LATEST", 2)
    old, middle, _ = (rows.history(toa_clock.now, at, source="pulse", outcome="missed") for at in (-3, -2, -1))
    rows.history(toa_clock.now, 0)
    component = "store.orders"
    assert old not in found(History, source="pulse")
    assert middle in found(History, source="pulse", component=component)
    assert old not in found(History, outcome="missed", component=component)
    words = "Among the last 2 lines of the history."
    assert words in root.get(address(History, source="pulse")).content.decode()
    # Of an index there is enough, and a search leaves little.
    assert old in found(History, outcome="missed")
    assert old in found(History, source="pulse", q=old.call.hex)
    assert words not in root.get(address(History, outcome="missed")).content.decode()


def test_revisions_are_found_by_their_object_and_calls_by_their_schedule(found, toa_clock):
    for model in (Revision, ScheduledCall):
        rows.MAKERS[model](toa_clock.now)
    revision = rows.revision(toa_clock.now, entity=rows.ORDER)
    call = rows.scheduled_call(toa_clock.now, entity=rows.ENTITY, schedule=uuid4())
    for term in (rows.ORDER, rows.ENTITY, str(UUID(rows.ORDER))):
        assert found(Revision, q=term) == [revision]
    assert found(ScheduledCall, q=call.schedule.hex) == [call]


def test_a_delivery_is_found_by_the_object_that_receives_it(found, toa_clock):
    row = rows.delivery(toa_clock.now, target="P 77")
    rows.delivery(toa_clock.now)
    assert found(Delivery, q="P 77") == found(Delivery, q="fulfilment.stock:P 77") == [row]


def test_pulses_and_schedules_are_filtered_by_what_holds_them(found, toa_clock):
    for model in (Pulse, Schedule):
        paused = rows.MAKERS[model](toa_clock.now, endpoint="a.b.c", paused_at=to_datetime(toa_clock.now))
        retired = rows.MAKERS[model](toa_clock.now, endpoint="store.orders.x", retired_at=to_datetime(toa_clock.now))
        assert found(model, state="paused") == [paused]
        assert retired in found(model, state="retired", component="store.orders")
        assert not {paused, retired} & set(found(model, state="active"))


def test_what_is_due_of_an_endpoint_is_found_while_it_is_tried_again_or_running(found, toa_clock):
    now = toa_clock.now
    due = rows.delay(now, -HOUR)
    again = rows.delay(now, -HOUR, attempt=1, wake_at=to_datetime(now + 30_000))
    running = rows.delay(now, -HOUR, token=uuid4(), wake_at=to_datetime(now + HOUR))
    rows.delay(now, 9 * HOUR)
    for query in ({"endpoint": "store.orders.cancel"}, {"component": "store.orders"}, {}):
        assert set(found(Delay, due="overdue", **query)) == {due, again, running}


def test_the_list_of_deliveries_leads_to_those_that_arrived(root, address, toa_clock):
    arrived = rows.history(toa_clock.now, source="delivery")
    rows.history(toa_clock.now)
    link = address(History, source="delivery")
    assert f'<a href="{link}">Events that arrived</a>' in root.get(address(Delivery)).content.decode()
    assert list(root.get(link).context["cl"].result_list) == [arrived]
