"""Lists are read through indexes: what a page costs does not grow with its table."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.admin import rows
from tests.cadence.plans import emptied
from toa.models import Delay, Delivery, Failure, History, Revision, Run, ScheduledCall

pytestmark = pytest.mark.django_db


@pytest.fixture
def crowded(toa_clock):
    """One row among many others of its table."""

    def make(model):
        emptied(model._meta.db_table)
        row = rows.MAKERS[model](toa_clock.now)
        rows.spread(row, 3_000)
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {model._meta.db_table}")
        return row

    return make


@pytest.fixture
def look(root, address):
    """The rows of a list, and the plan by which its table was read."""

    def at(model, **query):
        with CaptureQueriesContext(connection) as queries:
            page = root.get(address(model, **query)).context["cl"]
        plans = []
        with connection.cursor() as cursor:
            for one in queries.captured_queries:
                if f'FROM "{model._meta.db_table}"' in one["sql"]:
                    cursor.execute(f"EXPLAIN {one['sql']}")
                    plans.append("\n".join(line for (line,) in cursor.fetchall()))
        (reading,) = plans
        return list(page.result_list), reading

    return at


@pytest.mark.parametrize(
    ("model", "asked", "indexes"),
    [
        (Delay, lambda row: {"endpoint": row.endpoint}, {"toa_delay_claim"}),
        (Delay, lambda row: {"q": row.entity}, {"toa_delay_entity"}),
        (Delay, lambda row: {"q": row.id.hex}, {"toa_delay_pkey", "toa_delay_entity"}),
        (Delivery, lambda row: {"endpoint": row.endpoint}, {"toa_delivery_claim"}),
        (Delivery, lambda row: {"q": row.source_id}, {"toa_delivery_pkey", "toa_delivery_order"}),
        (ScheduledCall, lambda row: {}, {"toa_scheduledcall_claim"}),
        (ScheduledCall, lambda row: {"q": row.id.hex}, {"toa_scheduledcall_pkey", "toa_scheduledcall_order"}),
        (Run, lambda row: {"q": row.id.hex}, {"toa_run_pkey", "toa_run_key"}),
        (Revision, lambda row: {"q": row.entity}, {"toa_revision_version"}),
        (History, lambda row: {"q": row.entity}, {"toa_history_entity"}),
        (History, lambda row: {"q": row.call.hex}, {"toa_history_pkey", "toa_history_call", "toa_history_entity"}),
    ],
)
def test_what_is_asked_for_is_found_by_indexes(model, asked, indexes, crowded, look):
    row = crowded(model)
    found, plan = look(model, **asked(row))
    assert found == [row] or not asked(row)
    assert "Seq Scan" not in plan
    assert {index for index in indexes if index in plan} == indexes


@pytest.mark.parametrize(("model", "index"), [(History, "toa_history_at"), (Failure, "toa_failure_at")])
def test_the_newest_are_read_backwards_from_an_index(model, index, crowded, look):
    crowded(model)
    found, plan = look(model)
    assert found == list(model.objects.order_by("-at", "-id")[:100])
    assert f"Index Scan Backward using {index}" in plan
