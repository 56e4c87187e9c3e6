"""The demo's proofs: they hold for a shop that works, and each finds what it is there for."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from django.db import connection

import toa
from shop.demo.paying import paying_moment
from shop.demo.proving import Facts, lateness, prove
from shop.demo.watching import Watcher
from tests.orders.placing import configured, fill, place
from toa.models import Failure


@pytest.fixture
def shop(toa_clock, tmp_path: Path) -> tuple[Facts, dict[str, str]]:
    """Two orders of each kind of expiry, one of each paid, one order too large for the stock; an hour later."""
    fill("tea", 100)
    orders = {}
    for expiry in ("sweep", "alarm"):
        with configured(expiry=expiry, window="1s"):
            for fate in ("paid", "unpaid"):
                orders[f"{expiry} {fate}"] = place(f"{expiry}-{fate}", quantity=10)
    orders["short"] = place("short", quantity=1000)
    for expiry in ("sweep", "alarm"):
        toa.call("store.orders.approve", id=orders[f"{expiry} paid"])
    # Between two sweeps of the manifest there are minutes: the one that is meant here comes at its moment.
    toa_clock.advance(1001)
    toa.call("store.orders.expire", {"n": 1, "i": 0})
    toa_clock.run_until_idle()
    stock = tmp_path / "stock.csv"
    stock.write_text("product,available\ntea,100\n")
    paid = [UUID(orders[f"{expiry} paid"]) for expiry in ("sweep", "alarm")]
    return Facts(placed=5, paid=paid, stock=stock, shelves={"tea": 100, "beans-x": 0}, drifting="beans-"), orders


def test_all_of_it_holds_for_a_shop_that_works(shop):
    facts, _ = shop

    assert [proof.claim for proof in prove(facts) if proof.broken] == []
    assert {one.what: one.calls for one in lateness()} == {"alarm": 1, "event": 10, "send": 1, "swept order": 1}


@pytest.mark.parametrize(
    ("sql", "claim"),
    [
        ("DELETE FROM store_orders_order WHERE reference = 'short'", "all 5 orders of the files are there"),
        (
            "UPDATE store_orders_order SET version = 3 WHERE reference = 'sweep-unpaid'",
            "every unpaid order is cancelled",
        ),
        ("UPDATE store_orders_order SET status = 'pending' WHERE reference = 'alarm-unpaid'", "every unpaid order is"),
        (
            "UPDATE store_orders_order SET status = 'cancelled', reason = 'EXPIRED' WHERE reference = 'sweep-paid'",
            "no paid order is cancelled as EXPIRED",
        ),
        (
            "INSERT INTO toa_history SELECT twin.* FROM toa_history h,"
            " jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid())) twin"
            " WHERE h.endpoint = 'fulfilment.stock.release' LIMIT 1",
            "every cancelled order gave its goods back once",
        ),
        ("DELETE FROM toa_history WHERE endpoint = 'fulfilment.stock.release'", "every cancelled order gave its goods"),
        (
            "UPDATE store_orders_order SET pay_by = updated_at + interval '1 ms' WHERE reference = 'sweep-unpaid'",
            "none was cancelled before its moment",
        ),
        (
            "UPDATE store_orders_order SET pay_by = updated_at - interval '13 s' WHERE reference = 'sweep-unpaid'",
            "each sweep came within 12 s",
        ),
        (
            "UPDATE toa_history SET due_at = due_at - interval '6 s' WHERE source = 'delay'",
            "each alarm came within 5 s",
        ),
        ("UPDATE fulfilment_stock_stock SET available = available + 1", "stock of 1 products is conserved to the unit"),
        (
            "UPDATE fulfilment_stock_stock SET available = available + 1",
            "the figures of all 2 products are what the warehouse has",
        ),
        (
            "UPDATE fulfilment_stock_stock SET available = available + 10, reserved = reserved - (SELECT"
            " replace(id::text, '-', '') FROM store_orders_order WHERE reference = 'sweep-paid')",
            "goods are kept for paid orders",
        ),
        ("UPDATE toa_history SET outcome = 'expired' WHERE source = 'send'", "no call is pending and none failed"),
    ],
)
def test_each_proof_finds_what_it_is_there_for(shop, sql, claim):
    facts, _ = shop
    with connection.cursor() as cursor:
        cursor.execute(sql)

    broken = [proof.claim for proof in prove(facts) if proof.broken]
    assert any(found.startswith(claim) for found in broken), broken


def test_a_pending_call_is_found(shop):
    facts, orders = shop
    toa.delay("store.orders.cancel", {"query": {"id": orders["short"]}, "input": {"reason": "X"}}, overdue=None, at=0)

    assert [proof.claim for proof in prove(facts) if proof.broken] == ["no call is pending and none failed"]
    assert not Failure.objects.exists()


def test_each_happening_is_told_once_with_what_it_did(shop):
    watcher = Watcher()
    told = {(one.what, one.endpoint, one.did) for one in watcher.news()}

    assert told == {
        ("alarm", "store.orders.cancel", "order cancelled: EXPIRED"),
        ("alarm", "store.orders.cancel", "taken back: the order was paid"),
        ("event", "fulfilment.stock.release", "goods given back"),
        ("event", "fulfilment.stock.reserve", "goods asked for"),
        ("event", "loyalty.earn", "points earned"),
        ("send", "store.orders.cancel", "order cancelled: OUT_OF_STOCK"),
    }
    assert watcher.news() == []
    standing = watcher.standing()
    assert (standing.orders, standing.approved, standing.expired, standing.out_of_stock) == (5, 2, 2, 1)
    assert standing.at_rest


def test_customers_pay_in_time_at_the_last_moment_or_never():
    moments = [paying_moment(f"WEB-{number:05}", 6.0) for number in range(1000)]
    early = [moment for moment in moments if moment is not None and moment < 5.0]
    late = [moment for moment in moments if moment is not None and moment >= 5.0]

    assert 350 < len(early) < 450
    assert 50 < len(late) < 110
    assert all(1.8 <= moment <= 4.8 for moment in early)
    assert all(5.9 <= moment <= 6.1 for moment in late)
