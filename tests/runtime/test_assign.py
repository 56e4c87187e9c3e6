"""Assignments and blanks of an associated component: the object is there by virtue of its id."""

from __future__ import annotations

import pytest

import toa
from fulfilment.stock.models import Stock
from tests.together import together
from toa.exceptions import NotFound, PreconditionFailed

ASSIGN = "fulfilment.stock.assign"
GRACE = 600_000


def assign(available: int, **query: object) -> object:
    return toa.call(ASSIGN, {"available": available}, id="tea", **query)


def row() -> tuple[int, int]:
    return Stock.objects.values_list("available", "version").get(id="tea")


def test_M9_a_blank_is_read_as_written_long_ago_and_nothing_is_created(toa_clock):
    blank = toa.call("fulfilment.stock.observe", id="tea")

    assert (blank.id, blank.available, blank.reserved) == ("tea", 0, {})
    assert (blank.CREATED, blank.UPDATED, blank.VERSION, blank.DELETED) == (0, 0, 0, None)
    assert not blank.UPDATED > toa_clock.now - GRACE
    before = f"UPDATED<{toa_clock.now - GRACE}"
    assert toa.call("fulfilment.stock.observe", id="tea", criteria=before) == blank
    assert toa.call("fulfilment.stock.observe", id="tea", version=0) == blank
    assert toa.call("fulfilment.stock.enumerate", limit=10) == []
    assert not Stock.objects.exists()


def test_M9_a_blank_that_is_changed_does_not_change_the_next_one(toa_clock):
    toa.call("fulfilment.stock.observe", id="tea").reserved["order"] = 3
    assert toa.call("fulfilment.stock.observe", id="salt").reserved == {}


@pytest.mark.parametrize("query", [{}, {"version": 0}])
def test_M10_an_assignment_creates_what_was_never_written(toa_clock, query):
    assert assign(7, **query) is None
    assert row() == (7, 1)
    created = Stock.objects.get()
    assert created.created_at == created.updated_at
    assert created.reserved == {}, "the blank's values stand where nothing was assigned"


@pytest.mark.parametrize(
    ("query", "error"),
    [({"version": 1}, PreconditionFailed), ({"criteria": "available==0"}, NotFound)],
    ids=["a version above 0", "criteria"],
)
def test_M10_what_asks_about_a_state_that_is_not_there_is_refused(toa_clock, query, error):
    with pytest.raises(error):
        assign(7, **query)
    assert not Stock.objects.exists()


def test_M10_a_version_read_before_somebody_else_wrote_is_refused(toa_clock):
    read = toa.call("fulfilment.stock.observe", id="tea").VERSION
    toa.call("fulfilment.stock.restock", {"quantity": 5}, id="tea")

    with pytest.raises(PreconditionFailed, match="version 1, not 0"):
        assign(7, version=read)
    assert row() == (5, 1)
    assign(7, version=1)
    with pytest.raises(PreconditionFailed, match="version 2, not 1"):
        assign(8, version=1)
    assert row() == (7, 2)


def test_M10_of_two_first_writes_that_both_must_be_the_first_one_is_refused(transactional_db, toa_clock):
    for _ in range(5):
        outcomes = together(2, lambda i: assign(i + 1, version=0))
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType", "PreconditionFailed"]
        assert row()[1] == 1
        Stock.objects.all().delete()


def test_an_assignment_may_set_only_what_the_manifest_says(toa_clock):
    for unfit in ({"reserved": {}}, {"available": -1}, {}, None):
        with pytest.raises(toa.InvalidInput):
            toa.call(ASSIGN, unfit, id="tea")
    assert not Stock.objects.exists()
