"""What a request costs, in statements."""

from __future__ import annotations

import pytest

from tests.rest.calling import ORDERS, order, placed

WHO = 2
"""The session and its user."""


def test_reading_one_object_is_one_statement(anna, django_assert_num_queries):
    path = placed(anna, "A-1")

    with django_assert_num_queries(WHO + 1):
        assert anna.get(path).status == 200


@pytest.mark.parametrize(
    ("query", "statements"),
    [
        ("", 1),
        ("?criteria=status==pending;total>1&projection=total", 1),
        # A full page: where the next one begins is in the last id, or in that row's stored sort values.
        ("?limit=2", 1),
        ("?limit=2&sort=-UPDATED", 2),
    ],
)
def test_a_page_is_one_statement_whatever_it_holds(anna, django_assert_num_queries, query, statements):
    for number in range(3):
        placed(anna, f"A-{number}")

    with django_assert_num_queries(WHO + statements):
        assert anna.get(f"{ORDERS}{query}").status == 200


def test_a_transition_costs_what_a_call_of_it_costs(anna, django_assert_num_queries, toa_clock):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    import toa

    first, second = placed(anna, "A-1"), placed(anna, "A-2")
    with CaptureQueriesContext(
        connection,
    ) as called:
        toa.call("store.orders.cancel", {"reason": "X"}, id=first.rstrip("/").rpartition("/")[2])

    with django_assert_num_queries(WHO + len(called)):
        assert anna.post(f"{second}cancel/", {"reason": "X"}).status == 204


def test_who_may_not_costs_no_more_than_being_recognised(nobody, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert nobody.post(ORDERS, order("A-1")).status == 401
