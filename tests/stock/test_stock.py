"""Stock as orders come and go: kept once, given back once, never less than nothing."""

from __future__ import annotations

import pytest

import toa
from fulfilment.stock.models import Stock
from tests.orders.placing import configured, fill, order, place, stock
from toa import PreconditionFailed
from toa.models import Failure, History


def test_a_placed_order_keeps_its_goods_and_a_cancelled_one_gives_them_back(toa_clock):
    fill("tea", 10)
    identity = place("A-1", quantity=4)
    toa_clock.run_until_idle()
    assert (stock("tea").available, stock("tea").reserved) == (6, {identity: 4})

    toa.call("store.orders.cancel", {"reason": "CHANGED_MIND"}, id=identity)
    toa_clock.run_until_idle()
    assert (stock("tea").available, stock("tea").reserved) == (10, {})


def test_a_paid_order_goes_on_keeping_its_goods(toa_clock):
    fill("tea", 10)
    identity = place("A-1", quantity=4)
    toa.call("store.orders.approve", id=identity)
    toa_clock.advance("5h")

    assert (stock("tea").available, stock("tea").reserved) == (6, {identity: 4})


@pytest.mark.parametrize("paid", [False, True])
def test_where_a_product_runs_short_the_order_is_cancelled_whether_paid_or_not(toa_clock, paid):
    fill("tea", 3)
    first, second = place("A-1", quantity=2), place("A-2", quantity=2)
    if paid:
        toa.call("store.orders.approve", id=second)
    toa_clock.run_until_idle()

    assert (stock("tea").available, stock("tea").reserved) == (1, {first: 2})
    assert (order(second).status, order(second).reason) == ("cancelled", "OUT_OF_STOCK")
    assert order(first).status == "pending"


def test_an_order_cancelled_before_its_goods_were_kept_ends_with_nothing_kept(toa_clock):
    fill("tea", 10)
    identity = place("A-1", quantity=4)
    toa.call("store.orders.cancel", {"reason": "CHANGED_MIND"}, id=identity)
    toa_clock.run_until_idle()

    assert (stock("tea").available, stock("tea").reserved) == (10, {})
    made = History.objects.filter(source="delivery").order_by("call").values_list("endpoint", flat=True)
    assert list(made) == ["fulfilment.stock.reserve", "fulfilment.stock.release"]


def test_an_order_for_a_product_without_stock_is_cancelled_and_leaves_no_row(toa_clock):
    identity = place("A-1", product="nothing")
    toa_clock.run_until_idle()

    assert order(identity).reason == "OUT_OF_STOCK"
    assert not Stock.objects.exists()
    assert not Failure.objects.exists()


def test_reserving_and_releasing_twice_is_the_same_as_once(toa_clock):
    fill("tea", 10)
    kept = {"order": "b" * 32, "quantity": 4}

    for _ in range(2):
        assert toa.call("fulfilment.stock.reserve", kept, id="tea") == {"reserved": True}
    assert (stock("tea").available, stock("tea").VERSION) == (6, 2)
    assert toa.call("fulfilment.stock.release", {"order": "b" * 32}, id="tea") == {"released": 4}
    assert toa.call("fulfilment.stock.release", {"order": "b" * 32}, id="tea") == {"released": 0}
    assert (stock("tea").available, stock("tea").VERSION) == (10, 3)


def test_new_goods_are_added_and_first_goods_are_set_once(toa_clock):
    assert toa.call("fulfilment.stock.restock", {"quantity": 5}, id="tea") == {"available": 5}
    with pytest.raises(PreconditionFailed):
        fill("tea", 100)
    toa.call("fulfilment.stock.assign", {"available": 7}, id="tea")

    assert stock("tea").available == 7


def test_both_ways_of_expiring_give_the_goods_back(toa_clock):
    fill("tea", 10)
    swept = place("A-1", quantity=1)
    with configured(expiry="alarm"):
        alarmed = place("A-2", quantity=2)
    toa_clock.run_until_idle()
    assert stock("tea").reserved == {swept: 1, alarmed: 2}

    toa_clock.advance("65m")
    assert (order(swept).reason, order(alarmed).reason) == ("EXPIRED", "EXPIRED")
    assert (stock("tea").available, stock("tea").reserved) == (10, {})
