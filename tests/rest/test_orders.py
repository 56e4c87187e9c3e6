"""Orders over HTTP: placing, reading, listing and cancelling one's own."""

from __future__ import annotations

import pytest

from store.orders.models import Order
from tests.rest.calling import ORDERS, order, placed


def test_placing_an_order_fills_in_the_caller_and_says_where_it_is(anna, toa_clock):
    answer = anna.post(ORDERS, order("A-1", total="12.50"))

    assert answer.status == 201
    assert answer.headers["Location"] == f"{ORDERS}{answer.json['id']}/"
    found = anna.get(answer.headers["Location"])
    assert found.status == 200 and found.headers["ETag"] == '"1"'
    assert found.json == {
        "id": answer.json["id"],
        "reference": "A-1",
        "customer": "anna",
        "product": "tea",
        "quantity": 1,
        "total": "12.50",
        "status": "pending",
        "pay_by": toa_clock.now + 3_600_000,
        "alarm": None,
        "reason": None,
        "escalated": None,
        "CREATED": toa_clock.now,
        "UPDATED": toa_clock.now,
        "DELETED": None,
        "VERSION": 1,
    }


def test_an_input_that_names_the_owner_is_refused(anna):
    refused = anna.post(ORDERS, order("A-1", customer="anna")).problem()

    assert (refused["status"], [one["pointer"] for one in refused["errors"]]) == (400, ["/customer"])
    assert not Order.objects.exists()


def test_cancelling_replies_null_and_the_second_time_says_why_not(anna):
    path = placed(anna, "A-1")

    assert anna.post(f"{path}cancel/", {"reason": "TOO_LATE"}).status == 204
    refused = anna.post(f"{path}cancel/", {"reason": "EXPIRED"}).problem()
    assert (refused["status"], refused["code"], refused["details"]) == (422, "NOT_PENDING", {"status": "cancelled"})


def test_a_total_over_the_limit_is_refused_with_its_code_and_details(anna):
    refused = anna.post(ORDERS, order("A-1", total="10000.01")).problem()

    assert (refused["status"], refused["code"]) == (422, "LIMIT_EXCEEDED")
    assert refused["details"] == {"total": "10000.01", "limit": 10000}
    assert not Order.objects.exists()


def test_the_etag_is_the_version_and_if_match_holds_a_change_to_it(anna):
    path = placed(anna, "A-1")

    known = anna.get(path, if_none_match='"1"')
    assert known.status == 304 and "Content-Type" not in known.headers
    assert known.headers["Cache-Control"] == "private, no-cache"
    assert anna.post(f"{path}cancel/", {"reason": "X"}, if_match='"2"').problem()["status"] == 412
    assert anna.post(f"{path}cancel/", {"reason": "X"}, if_match='W/"1"').problem()["status"] == 412
    assert anna.post(f"{path}cancel/", {"reason": "X"}, if_match='"one"').problem()["status"] == 412
    assert anna.post(f"{path}cancel/", {"reason": "X"}, if_match='"1", "2"').problem()["status"] == 400
    assert anna.post(f"{path}cancel/", {"reason": "X"}, if_match="1").problem()["status"] == 400
    assert anna.get(path, if_match='"3"').problem()["status"] == 412
    assert anna.get(path).json["status"] == "pending"
    assert anna.post(f"{path}cancel/", {"reason": "X"}, if_match='"1"').status == 204
    assert anna.get(path, if_none_match='"1"').headers["ETag"] == '"2"'


def test_an_idempotency_key_gives_the_reply_again_and_belongs_to_its_caller(anna, bob):
    first = anna.post(ORDERS, order("A-1"), idempotency_key="k")
    again = anna.post(ORDERS, order("A-1"), idempotency_key="k")

    assert (first.status, again.status) == (201, 201) and first.json == again.json
    assert anna.post(ORDERS, order("A-2"), idempotency_key="k").problem()["kind"] == "once"
    assert bob.post(ORDERS, order("B-1"), idempotency_key="k").json != first.json
    assert Order.objects.count() == 2


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_an_idempotency_key_of_another_size_is_refused(anna, key):
    assert anna.post(ORDERS, order("A-1"), idempotency_key=key).problem()["status"] == 400
    assert not Order.objects.exists()


def test_an_operation_that_remembers_nothing_refuses_an_idempotency_key(anna):
    path = placed(anna, "A-1")

    assert anna.post(f"{path}cancel/", {"reason": "X"}, idempotency_key="k").problem()["status"] == 400
    assert anna.get(path, idempotency_key="k").problem()["status"] == 400
    assert anna.get(path).json["status"] == "pending"


def test_a_second_order_of_one_reference_is_a_conflict(anna):
    placed(anna, "A-1")

    assert anna.post(ORDERS, order("A-1")).problem()["kind"] == "conflict"


def test_pages_follow_one_another_to_the_end(anna, bob):
    names = [f"A-{number}" for number in range(5)]
    for name in names:
        placed(anna, name)
    placed(bob, "B-0")
    seen, page = [], f"{ORDERS}?limit=2&sort=-UPDATED,reference&projection=reference"
    while page:
        answer = anna.get(page)
        assert answer.status == 200, answer.json
        seen += answer.json["items"]
        page = answer.json["next"]

    assert [one["reference"] for one in seen] == names
    assert all(one.keys() == {"id", "reference"} for one in seen)


def test_a_page_holds_fifty_unless_told_otherwise(anna):
    Order.objects.bulk_create(
        Order(reference=f"A-{number}", customer="anna", product="tea", quantity=1, total="1.00", status="pending")
        for number in range(51)
    )
    page = anna.get(ORDERS).json

    assert len(page["items"]) == 50
    assert len(anna.get(page["next"]).json["items"]) == 1
    assert anna.get(page["next"]).json["next"] is None


def test_rows_written_beside_the_clocks_milliseconds_are_paged_over_once(anna):
    """A draft cuts moments to milliseconds; the place to go on from must not be cut."""
    for number in range(4):
        placed(anna, f"A-{number}")
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE store_orders_order SET pay_by = '2026-01-05 12:00:00+00'::timestamptz"
            " + right(reference, 1)::int * interval '200 microseconds'"
        )
    seen, page = [], f"{ORDERS}?limit=1&sort=pay_by"
    while page:
        answer = anna.get(page).json
        seen += [one["reference"] for one in answer["items"]]
        page = answer["next"]

    assert seen == [f"A-{number}" for number in range(4)]
