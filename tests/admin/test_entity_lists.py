"""The lists of the shop's objects open with no row, one and many, at the same number of queries."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.contrib import admin
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from store.lifecycle.models import Process
from store.orders.models import Order
from tests.cadence.plans import emptied
from toa.admin.filters import InstanceFilter
from toa.core.clock import to_datetime
from toa.models import Entity

pytestmark = pytest.mark.django_db

MANY = 130
SHOWN = [model for model in admin.site._registry if issubclass(model, Entity)]


def value(field, number, now):
    """Something that fits a column, another one for each row where the column may have to be unique."""
    if field.choices:
        return field.choices[0][0]
    kinds = {
        models.DateTimeField: to_datetime(now),
        models.UUIDField: uuid4(),
        models.JSONField: {},
        models.DecimalField: Decimal(1),
        models.BooleanField: True,
        models.IntegerField: number,
        models.FloatField: 1.0,
    }
    return next((one for kind, one in kinds.items() if isinstance(field, kind)), f"x{number}")


def fill(model, count, now):
    model.objects.all().delete()
    fields = [field for field in model._meta.fields if not field.null]
    model.objects.bulk_create(
        model(**{field.attname: value(field, number, now) for field in fields}) for number in range(count)
    )


@pytest.mark.parametrize("model", SHOWN, ids=lambda model: model._meta.label)
def test_a_list_of_objects_costs_the_same_with_no_row_one_and_many(model, root, toa_clock):
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    counts = {}
    for number in (0, 1, MANY):
        fill(model, number, toa_clock.now)
        with CaptureQueriesContext(connection) as queries:
            response = root.get(address)
        assert response.status_code == 200
        assert len(response.context["cl"].result_list) == min(number, 100)
        counts[number] = len(queries)
    assert counts[0] == counts[1] == counts[MANY]
    assert not any("COUNT(" in one["sql"] for one in queries.captured_queries)
    following = root.get(address + response.context["cl"].next)
    assert len(following.context["cl"].result_list) == MANY - 100
    assert "Next ›" in response.content.decode()
    assert "‹ Previous" in following.content.decode()


def test_instances_are_filtered_by_the_states_there_are_without_looking_them_up(root, toa_clock):
    fill(Process, 3, toa_clock.now)
    failed = Process.objects.order_by("id")[0]
    Process.objects.filter(id=failed.id).update(clock_state="failed")
    address = reverse("admin:store_lifecycle_process_changelist")
    with CaptureQueriesContext(connection) as queries:
        page = root.get(address).context["cl"]
    assert not any("DISTINCT" in one["sql"] for one in queries.captured_queries)
    [states] = [one for one in page.filter_specs if isinstance(one, InstanceFilter)]
    found = {}
    for choice in states.choices(page):
        shown = root.get(address + choice["query_string"]).context["cl"]
        found[choice["display"]] = len(shown.result_list)
        [same] = [one for one in shown.filter_specs if isinstance(one, InstanceFilter)]
        assert [one["display"] for one in same.choices(shown) if one["selected"]] == [choice["display"]]
    assert found == {"All": 3, "Running": 2, "Failed": 1, "Draining": 0, "Discarded": 0, "Closed": 0}


def test_an_object_is_found_by_what_has_an_index_through_it(root, toa_clock):
    emptied(Order._meta.db_table)
    fill(Order, 3_000, toa_clock.now)
    row = Order.objects.order_by("id")[7]
    Order.objects.filter(id=row.id).update(reference="R 7", customer="anna")
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Order._meta.db_table}")
    for term in ("R 7", row.id.hex, "anna"):
        with CaptureQueriesContext(connection) as queries:
            found = root.get(reverse("admin:store_orders_order_changelist", query={"q": term})).context["cl"]
        assert [one.id for one in found.result_list] == [row.id]
        [read] = [one["sql"] for one in queries.captured_queries if f'FROM "{Order._meta.db_table}"' in one["sql"]]
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {read}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert "Seq Scan" not in plan
        assert "store_orders_customer_idx" in plan
