"""Calls side by side, on connections of their own."""

import pytest
from django.db import transaction

import toa
from tests.components.ledgers.models import Ledger
from tests.components.tallies.models import Tally
from tests.together import together
from toa.exceptions import Conflict, NotAllowedHere
from toa.models import Delay, Delivery, Once

pytestmark = pytest.mark.django_db(transaction=True)

TALLIES = "components.tallies"


@pytest.fixture
def tally(toa_clock):
    return toa.call(f"{TALLIES}.create", {"name": "first"})["id"]


def test_M7_twenty_concurrent_transitions_each_take_effect_once(tally):
    replies = together(20, lambda i: toa.call(f"{TALLIES}.add", {"by": 1}, id=tally))
    assert sorted(reply["count"] for reply in replies) == list(range(1, 21))
    row = Tally.objects.get()
    assert (row.count, row.version) == (20, 21)


def test_M8_two_first_writes_of_one_associated_object_both_take_effect(toa_clock):
    for attempt in range(5):
        identity = f"{attempt:032x}"
        together(2, lambda i, identity=identity: toa.call("components.ledgers.note", {"line": str(i)}, id=identity))
        row = Ledger.objects.get(id=identity)
        assert (sorted(row.lines), row.version) == (["0", "1"], 2)


def test_M11_racing_duplicates_with_one_once_key_change_the_state_once(tally):
    replies = together(8, lambda i: toa.call(f"{TALLIES}.add", {"by": 2}, id=tally, once="same"))
    assert replies == [{"count": 2}] * 8
    assert Tally.objects.get().count == 2


def test_M11_a_duplicate_that_waits_runs_where_the_first_one_ended_in_an_error(tally):
    toa.call(f"{TALLIES}.add", {"by": 999}, id=tally)
    # Both ask for more than there is room for; one of them makes room for nobody.
    replies = together(4, lambda i: toa.call(f"{TALLIES}.add", {"by": 2}, id=tally, once="same"))
    assert [reply.code for reply in replies] == ["FULL"] * 4
    assert Once.objects.count() == 0


def test_concurrency_none_is_a_conflict_at_once(tally):
    with transaction.atomic():
        Tally.objects.select_for_update().get()
        (outcome,) = together(1, lambda i: toa.call(f"{TALLIES}.count_once", id=tally))
    assert isinstance(outcome, Conflict)
    assert Tally.objects.get().count == 0


def test_M17_a_call_joins_the_callers_transaction(tally):
    def change():
        toa.call(f"{TALLIES}.arm", {"interval": "1h"}, id=tally)
        toa.call(f"{TALLIES}.add", {"by": 3}, id=tally, once="key")
        toa.send(f"{TALLIES}.report", {"input": {}})

    with transaction.atomic():
        change()
        transaction.set_rollback(True)
    assert Tally.objects.get().count == 0
    assert (
        Delay.objects.count(),
        Once.objects.count(),
        Delivery.objects.filter(receiver="components.ledgers", version__gt=1).count(),
    ) == (0, 0, 0)
    with transaction.atomic():
        change()
    assert Tally.objects.get().count == 4
    assert (
        Delay.objects.count(),
        Once.objects.count(),
        Delivery.objects.filter(receiver="components.ledgers", version__gt=1).count(),
    ) == (2, 1, 2)


def test_M17_an_error_in_the_callers_transaction_leaves_it_whole(tally):
    with transaction.atomic():
        toa.call(f"{TALLIES}.add", {"by": 3}, id=tally)
        assert toa.call(f"{TALLIES}.add", {"by": 999}, id=tally, once="key").code == "FULL"
        with pytest.raises(Conflict):
            toa.call(f"{TALLIES}.create", {"name": "first"})
        toa.call(f"{TALLIES}.add", {"by": 4}, id=tally)
    assert Tally.objects.get().count == 7


def test_M17_an_effect_in_an_open_transaction_is_refused_with_the_way_out(toa_clock):
    with transaction.atomic(), pytest.raises(NotAllowedHere, match=r"toa\.send"):
        toa.call(f"{TALLIES}.report", {})
