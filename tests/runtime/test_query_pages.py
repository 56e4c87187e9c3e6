"""Sorting and paging against PostgreSQL: pages join to the whole, in the order that plain Python sorts by."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

import pytest
from django.db import connection
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.core.order_spec import ORDER
from tests.runtime.criteria_plans import POOLS, PROPERTY, rows
from tests.runtime.order_model import ATTNAMES, Order, order_table
from toa.core.cursor import encode_cursor
from toa.core.query import Query, parse_query
from toa.models.lookups import apply

pytestmark = pytest.mark.django_db

SORTABLE = [PROPERTY.get(column, column) for column in POOLS]


@pytest.fixture(scope="module", autouse=True)
def table(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock(), order_table():
        yield


def page(**query: Any) -> list[Order]:
    return list(apply(parse_query(query, ORDER), Order.objects.all(), ORDER))


def cursor_behind(row: Order, query: Query) -> str:
    return encode_cursor(query.order, {name: getattr(row, ATTNAMES[name]) for name in ATTNAMES})


def pages(size: int, **query: Any) -> Iterator[list[Order]]:
    """The pages of a listing, each asked for with the cursor of the one before."""
    after = None
    while found := page(limit=size, after=after, **query):
        yield found
        after = cursor_behind(found[-1], parse_query(query, ORDER))


def in_order(stored: list[Order], sort: list[str]) -> list[Order]:
    """Null above every value, NaN above every number, equal rows by id in the direction of the last key."""

    def compare(one: Order, other: Order) -> int:
        for key in [*sort, "-id" if sort and sort[-1].startswith("-") else "id"]:
            a, b = _place(one, key), _place(other, key)
            if a != b:
                return (-1 if a < b else 1) * (-1 if key.startswith("-") else 1)
        return 0

    return sorted(stored, key=cmp_to_key(compare))


def _place(row: Order, key: str) -> tuple[int, Any]:
    value = getattr(row, ATTNAMES[key.removeprefix("-")])
    if value is None:
        return (2, 0)
    return (1, 0) if value != value else (0, value)


sorts = st.lists(st.sampled_from(SORTABLE), unique=True, max_size=3).flatmap(
    lambda names: st.tuples(*(st.sampled_from([name, f"-{name}"]) for name in names))
)


# Criteria beside the sort: they may or may not leave out the rows whose sort key is null.
BESIDE: dict[str | None, Callable[[Order], bool]] = {
    None: lambda row: True,
    "quantity!=5": lambda row: row.quantity != 5,
    "quantity!=null": lambda row: row.quantity is not None,
    "quantity==null": lambda row: row.quantity is None,
    "quantity>=0,gift==true": lambda row: (row.quantity is not None and row.quantity >= 0) or row.gift is True,
    "quantity<=5;customer=out=(a)": lambda row: row.quantity is not None and row.quantity <= 5 and row.customer != "a",
    "details.a!=null;quantity=out=()": lambda row: bool(row.details) and row.details.get("a") is not None,
}


@settings(max_examples=120, deadline=None)
@given(rows, sorts, st.integers(1, 5), st.sampled_from(sorted(BESIDE, key=str)))
@example([{}, {"quantity": 5}, {"quantity": 1}, {}], ("quantity",), 1, "quantity!=5")
@example([{}, {"quantity": 5}, {"quantity": 1}, {"gift": True}], ("quantity",), 1, "quantity>=0,gift==true")
@example([{}, {"quantity": 5}, {"quantity": 1}, {}], ("-quantity",), 1, "quantity==null")
@example([{}, {"quantity": 5}, {"quantity": 1}, {}], ("quantity",), 1, "quantity==null")
def test_pages_join_to_the_whole_in_order(
    values: list[dict[str, Any]], sort: tuple[str, ...], size: int, criteria: str | None
) -> None:
    Order.objects.all().delete()
    plain = {"created_at": POOLS["created_at"][0], "version": 1, "reference": ""}
    stored = Order.objects.bulk_create(
        Order(**{**plain, "updated_at": plain["created_at"], "id": uuid.uuid5(uuid.NAMESPACE_OID, str(n)), **v})
        for n, v in enumerate(values)
    )
    expected = [row.pk for row in in_order([row for row in stored if BESIDE[criteria](row)], list(sort))]
    query = {"sort": list(sort), "criteria": criteria}
    assert [row.pk for row in page(**query)] == expected
    assert [row.pk for found in pages(size, **query) for row in found] == expected


@pytest.fixture
def thousands() -> None:
    """Twenty thousand rows, three of them with each total, and the indexes of a listing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO criteria_order (id, reference, quantity, total, pay_by, created_at, updated_at, version)"
            " SELECT gen_random_uuid(), to_char(n, 'FM00000'), n, n / 3, to_timestamp(n), to_timestamp(n),"
            " to_timestamp(n), 1 FROM generate_series(1, 20000) n"
        )
        for name in ("created_at", "pay_by", "total", "reference"):
            cursor.execute(f"CREATE INDEX criteria_{name} ON criteria_order ({name}, id)")
        cursor.execute("ANALYZE criteria_order")


def plan(row: Order, **query: Any) -> str:
    parsed = parse_query({**query, "limit": 10, "after": cursor_behind(row, parse_query(query, ORDER))}, ORDER)
    return str(apply(parsed, Order.objects.all(), ORDER).explain())


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ({"sort": "CREATED"}, "(ROW(created_at, id) > "),
        ({"sort": "-CREATED"}, "(ROW(created_at, id) < "),
        ({"sort": "-CREATED,id"}, "(created_at <= "),
        ({"sort": "-pay_by"}, "(ROW(pay_by, id) < "),
        ({"sort": "pay_by", "criteria": "pay_by>0"}, "(ROW(pay_by, id) > "),
        ({"sort": "pay_by", "criteria": "quantity<100000;pay_by!=null"}, "(ROW(pay_by, id) > "),
        ({"sort": "reference"}, "(ROW((reference)::text, id) > "),
        ({"sort": "id"}, "(id > "),
    ],
)
def test_a_page_begins_at_its_place_in_the_index(thousands: None, query: dict[str, str], condition: str) -> None:
    middle = Order.objects.get(quantity=10_000)
    found = plan(middle, **query)
    assert "Index Cond: (" in found
    assert condition in found.split("Index Cond: ")[1]
    assert "Sort  " not in found or "Incremental Sort" in found


def test_a_page_after_a_nullable_key_without_a_bound_still_walks_the_index(thousands: None) -> None:
    found = plan(Order.objects.get(quantity=10), sort="pay_by")
    assert "Index Scan using criteria_pay_by" in found


def test_rows_written_with_microseconds_are_neither_repeated_nor_passed_over(thousands: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE criteria_order SET pay_by = to_timestamp(1) + quantity % 7 * interval '1 microsecond'")
    Order.objects.filter(quantity__gt=50).delete()
    found = [row.quantity for part in pages(4, sort="pay_by") for row in part]
    assert sorted(found) == list(range(1, 51))
    assert [quantity % 7 for quantity in found] == sorted(quantity % 7 for quantity in found)


def test_M19_pages_by_a_decimal_end_where_they_began(thousands: None) -> None:
    total = Decimal("3333.00")
    before = page(sort="total", criteria="total==3333")
    assert len(before) == 3
    after = page(sort="total", limit=1, after=cursor_behind(before[-1], parse_query({"sort": "total"}, ORDER)))
    assert after[0].total == total + 1
