"""The stock's figures beside the warehouse's shelves: what is set, what is left alone, and what is never believed."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from django.db import connections
from hypothesis import given, settings
from hypothesis import strategies as st

import toa
from fulfilment.rounds.models import Round
from fulfilment.stock.models import Stock
from fulfilment.stock.reconciling import compare
from shop.warehouse.faults import FAMILIES, Fault
from shop.warehouse.ledger import Ledger
from shop.warehouse.server import Warehouse
from tests.orders.placing import fill, place, stock
from tests.warehouse.outside import PATIENT, QUICK, TOKEN, outside
from toa.core.clock import to_datetime
from toa.models import History

SYNC = "fulfilment.stock.sync"
GRID = {"n": 1, "i": 0}
CYCLE = 900_000


def test_W8_drifted_figures_are_set_fresh_ones_are_left_new_ones_come(toa_clock):
    for product in ("drifted", "right", "fresh", "kept", "broken", "elsewhere"):
        fill(product, 10)
    order, many = place("A-1", product="kept", quantity=4), place("A-2", product="broken", quantity=9)
    toa_clock.advance_to(next_boundary(toa_clock.now) - 60_000)
    toa.call("fulfilment.stock.restock", {"quantity": 1}, id="fresh")

    with outside() as warehouse:
        shelves = {"drifted": 7, "right": 10, "fresh": 3, "kept": 9, "broken": 5, "new": 12, "empty": 0}
        warehouse.ledger.set_shelves(shelves)
        toa_clock.advance_to(next_boundary(toa_clock.now))

        figures = {"drifted": 7, "right": 10, "fresh": 11, "kept": 5, "broken": 0, "new": 12, "elsewhere": 10}
        assert {one.id: one.available for one in Stock.objects.all()} == figures
        assert (stock("kept").reserved, stock("broken").reserved) == ({order: 4}, {many: 9})
        assert last().code == "4 made, 1 passed"

        versions = dict(Stock.objects.values_list("id", "version"))
        toa_clock.advance_to(next_boundary(toa_clock.now))
        # The fresh one has been quiet since; all others stay as they are.
        assert stock("fresh").available == 3
        assert dict(Stock.objects.exclude(id="fresh").values_list("id", "version")) == {
            product: version for product, version in versions.items() if product != "fresh"
        }


CAUSES = {
    Fault.INTERNAL: "NoAnswer: GET /inventory: HTTP 500",
    Fault.UNAVAILABLE: "NoAnswer: GET /inventory: HTTP 503, come again after 1 s",
    Fault.BUSY: "NoAnswer: GET /inventory: HTTP 429, come again after 1 s",
    Fault.RESET: "NoAnswer: GET /inventory: the connection broke: [Errno 104] Connection reset by peer",
    Fault.SILENT: "NoAnswer: GET /inventory: no answer within 0.7 s",
    Fault.DRIP: "NoAnswer: GET /inventory: the answer was not over within 1 s",
    Fault.DRIP_HEAD: "NoAnswer: GET /inventory: the answer was not over within 1 s",
    Fault.ABSURD: "BadAnswer: GET /inventory: in the answer /items/1/available: -5 is less than 0",
    Fault.TYPE: "BadAnswer: GET /inventory: in the answer /items/1/available: ",
    Fault.HALF: "BadAnswer: GET /inventory: the answer is not whole JSON: ",
    Fault.CUT: "NoAnswer: GET /inventory: the connection broke: peer closed connection without sending complete",
    Fault.HTML: "BadAnswer: GET /inventory: the answer is text/html, not JSON",
    Fault.CHARSET: "BadAnswer: GET /inventory: the answer is not UTF-8 at byte ",
    Fault.HUGE: "BadAnswer: GET /inventory: the answer is larger than 4000000 bytes",
    Fault.PACKED: "BadAnswer: GET /inventory: the answer is compressed, which nobody asked for",
    Fault.REDIRECT: "BadAnswer: GET /inventory: HTTP 302 sends us elsewhere; redirects are not followed",
    Fault.LOST: "NoAnswer: GET /inventory: the connection broke: [Errno 104] Connection reset by peer",
}


@pytest.mark.parametrize("fault", Fault)
def test_W9_nothing_is_set_from_a_bad_answer_its_cause_is_told_and_the_next_pulse_works(toa_clock, caplog, fault):
    caplog.set_level(logging.DEBUG)
    for product in ("a", "b", "c"):
        fill(product, 10)
    with outside(waits=QUICK if fault in FAMILIES["hang"] else PATIENT) as warehouse:
        warehouse.ledger.set_shelves({"a": 1, "b": 2, "c": 3})
        warehouse.faults.set({"next": [fault]})
        pulse(toa_clock)

        assert set(Stock.objects.values_list("available", "version")) == {(10, 1)}
        assert last().outcome == "failed"
        assert last().code.startswith(CAUSES[fault])
        assert warehouse.strayed == 0

        pulse(toa_clock)
        assert [stock(product).available for product in ("a", "b", "c")] == [1, 2, 3]
    assert CAUSES[fault].partition(": ")[2] in caplog.text
    told = [f"{line.code} {line.cause}" for line in History.objects.all()]
    assert TOKEN not in f"{caplog.text} {told}"


def test_what_earlier_pages_set_stays_and_the_next_call_begins_with_the_page_that_failed(toa_clock):
    products = [f"p{number}" for number in range(5)]
    for product in products:
        fill(product, 10)
    toa_clock.advance("11m")
    with outside(page=2) as warehouse:
        warehouse.ledger.set_shelves(dict.fromkeys(products, 1))
        warehouse.faults.set({"next": [None, "absurd"]})
        with pytest.raises(toa.Transient):
            toa.call(SYNC, GRID)

        assert [stock(product).available for product in products] == [1, 1, 10, 10, 10]
        assert Round.objects.get().after == "p1"
        assert toa.call(SYNC, GRID) == counts(made=3)
        assert (Round.objects.get().after, Round.objects.get().ended) == ("", to_datetime(toa_clock.now))


def test_a_call_takes_bounded_steps_and_a_round_comes_to_its_end(toa_clock):
    with outside(page=2, budget="0ms") as warehouse:
        warehouse.ledger.set_shelves({f"p{number}": number + 1 for number in range(5)})

        assert [toa.call(SYNC, GRID) for _ in range(3)] == [counts(made=2), counts(made=2), counts(made=1)]
        assert warehouse.faults.whole()["asked"] == {"inventory": 3}
        toa_clock.advance("11m")
        assert [toa.call(SYNC, GRID) for _ in range(3)] == [counts()] * 3


def test_a_page_that_agrees_costs_the_same_whatever_its_size(toa_clock, django_assert_max_num_queries):
    shelves = {f"p{number:03}": 7 for number in range(300)}
    long_ago = to_datetime(toa_clock.now)
    Stock.objects.bulk_create(Stock(id=name, available=figure, updated_at=long_ago) for name, figure in shelves.items())
    with outside() as warehouse:
        warehouse.ledger.set_shelves(shelves)
        toa_clock.set(toa_clock.now + 3 * CYCLE)
        with django_assert_max_num_queries(12):
            assert toa.call(SYNC, GRID) == counts()


def test_what_happens_while_the_warehouse_is_asked_is_not_undone(transactional_db, toa_clock):
    """Copy and shelf differ; in the middle of the request goods arrive in the shop, and a first figure comes."""
    fill("tea", 10)
    toa_clock.advance("11m")
    begun = []

    def meanwhile() -> int:
        if not begun:
            begun.append(True)
            toa.call("fulfilment.stock.restock", {"quantity": 5}, id="tea")
            fill("new", 3)
            connections.close_all()
        return toa_clock.now

    ledger = Ledger()
    ledger.set_shelves({"tea": 4, "new": 8})
    ledger._now = meanwhile
    # Without any grace: it is the version that protects.
    with outside(Warehouse(token=TOKEN, ledger=ledger), grace="0ms"):
        assert toa.call(SYNC, GRID) == counts(refused=2)

    assert (stock("tea").available, stock("new").available) == (15, 3)


def test_one_that_cannot_be_set_does_not_keep_the_others_waiting(toa_clock):
    for product in ("a", "b"):
        fill(product, 10)
    toa_clock.advance("11m")
    # Beside the operations, as a data fix gone wrong would: nothing can be kept zero times.
    Stock.objects.filter(id="a").update(reserved={"order": 0})
    with outside() as warehouse:
        warehouse.ledger.set_shelves({"a": 1, "b": 2})
        reply = toa.call(SYNC, GRID)

    assert (reply.made, reply.failed, stock("b").available) == (1, 1, 2)
    assert reply.errors[0].startswith("a: ")


def test_two_figures_of_one_product_are_both_refused_and_strange_fields_are_passed_over():
    shelves = [("tea", 1), ("tea", 2), ("mint", 3), ("mint", 3)]
    page = [SimpleNamespace(product=product, available=figure, colour="green") for product, figure in shelves]
    found = compare(page, None, [], full=False, quiet_since=0)

    assert [(one.product, one.available, one.version) for one in found.corrections] == [("mint", 3, 0)]
    assert list(found.doubtful) == ["tea"]


def test_without_a_warehouse_the_pulse_says_so(toa_clock):
    toa_clock.advance_to(next_boundary(toa_clock.now))

    assert (last().outcome, last().code) == ("refused", "NOT_CONFIGURED")


@given(
    shelves=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 5)),
    copies=st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans())),
    limit=st.integers(1, 4),
)
@settings(max_examples=150, deadline=None)
def test_a_round_over_any_shelves_and_copies_ends_and_sees_each_product_once(shelves, copies, limit):
    kept = {
        name: SimpleNamespace(
            id=name, available=figure, reserved={"order": reserved}, UPDATED=int(fresh), VERSION=1 + figure
        )
        for name, (figure, reserved, fresh) in copies.items()
    }
    place, corrections, fresh, pages = "", [], [], 0
    while place is not None:
        pages += 1
        page = sorted(name for name in shelves if name > place)[:limit]
        following = page[-1] if page and page[-1] != max(shelves) else None
        rows = [kept[name] for name in sorted(kept) if name > place][:limit]
        lines = [SimpleNamespace(product=name, available=shelves[name]) for name in page]
        found = compare(lines, following, rows, full=len(rows) == limit, quiet_since=0)
        corrections += found.corrections
        fresh += found.fresh
        assert found.reached is None or found.reached > place
        place = found.reached

    expected = []
    for name in sorted(shelves):
        if name not in kept:
            expected += [(name, shelves[name], 0)] if shelves[name] else []
            continue
        free = max(0, shelves[name] - copies[name][1])
        if not copies[name][2] and free != copies[name][0]:
            expected.append((name, free, 1 + copies[name][0]))
    assert [(one.product, one.available, one.version) for one in corrections] == expected
    assert fresh == [name for name in sorted(shelves) if name in kept and copies[name][2]]
    assert pages <= len(shelves) + len(copies) + 1


def counts(**some: int) -> dict[str, object]:
    return {"made": 0, "refused": 0, "failed": 0, "passed": 0, "errors": [], **some}


def last() -> History:
    return History.objects.filter(endpoint=SYNC, source="pulse").latest("at", "id")


def pulse(clock) -> None:
    """Go to the next boundary as if everything had been down until then, and run what is due at it."""
    clock.set(next_boundary(clock.now))
    clock.run_until_idle()


def next_boundary(moment: int) -> int:
    return (moment // CYCLE + 1) * CYCLE
