"""Operations called through the model: `Tally.operations.add(id, by=3)`."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db.models import Q

import toa
from store.orders.models import Order
from tests.components.ledgers.models import Ledger
from tests.components.tallies.models import Tally
from toa.exceptions import InvalidInput, InvalidQuery, PreconditionFailed, Refused
from toa.models import Once

pytestmark = pytest.mark.django_db


@pytest.fixture
def tally(toa_clock):
    return Tally.operations.create(name="first").id


def test_the_input_is_given_by_keywords_and_the_id_first_or_by_its_name(tally):
    assert Tally.operations.add(tally, by=3) == {"count": 3}
    assert Tally.operations.add(id=tally, by=2) == {"count": 5}
    assert Tally.operations.add(UUID(tally)) == {"count": 6}
    assert Tally.operations.count_once(tally) is None
    assert Tally.operations.observe(tally).count == 8


def test_the_input_may_be_given_whole(tally):
    assert Tally.operations.add(tally, input={"by": 3}) == {"count": 3}
    with pytest.raises(TypeError, match="either input= or by"):
        Tally.operations.add(tally, by=3, input={"by": 3})


def test_an_error_is_a_reply_or_with_check_an_exception(tally):
    assert Tally.operations.add(tally, by=1001) == toa.Error("FULL", count=0)
    with pytest.raises(Refused) as refusal:
        Tally.operations.add(tally, by=1001, check=True)
    assert (refusal.value.code, refusal.value.details) == ("FULL", {"count": 0})


def test_once_and_caller_mean_what_they_mean_to_a_call(tally):
    assert Tally.operations.add(tally, by=3, once="key", caller="anna") == {"count": 3}
    assert Tally.operations.add(tally, by=3, once="key", caller="anna") == {"count": 3}
    assert Tally.operations.add(tally, by=3, once="key", caller="ben") == {"count": 6}
    assert Once.objects.count() == 2


def test_version_and_criteria_are_of_the_query(tally):
    assert Tally.operations.add(tally, by=1, version=1) == {"count": 1}
    with pytest.raises(PreconditionFailed):
        Tally.operations.add(tally, by=1, version=1)
    assert Tally.operations.add(tally, criteria=Q(count=1), version=None) == {"count": 2}


def test_a_set_is_asked_for_by_keywords(tally):
    Tally.operations.create(name="second", count=5)
    found = Tally.operations.enumerate(criteria="count>=0", sort="-count", limit=10)
    assert [one.name for one in found] == ["second", "first"]
    assert [one.name for one in Tally.operations.enumerate(ids=[tally])] == ["first"]
    with pytest.raises(InvalidQuery, match="limit"):
        Tally.operations.enumerate()
    with pytest.raises(TypeError, match="takes no id"):
        Tally.operations.enumerate(tally)


def test_what_does_not_belong_is_refused(tally):
    with pytest.raises(InvalidInput, match="buy"):
        Tally.operations.add(tally, buy=3)
    with pytest.raises(InvalidInput):
        Tally.operations.count_once(tally, by=3)
    with pytest.raises(InvalidQuery, match="needs a query"):
        Tally.operations.add(by=3)
    with pytest.raises(TypeError, match="takes one id"):
        Tally.operations.add(tally, tally)
    with pytest.raises(TypeError, match="takes no id"):
        Tally.operations.create(tally, name="x")
    assert Tally.operations.observe(tally).VERSION == 1


def test_an_id_is_of_the_input_where_the_operation_makes_its_own(tally):
    with pytest.raises(InvalidInput, match="id"):
        Tally.operations.create(id=tally, name="x")


def test_each_model_has_its_own_and_they_can_be_looked_at(toa_clock):
    identity = "1" * 32
    Ledger.operations.note(identity, line="one")
    assert Ledger.operations.observe(identity).lines == ["one"]
    assert {"add", "create", "observe"} <= set(dir(Tally.operations))
    assert "note" not in dir(Tally.operations)
    assert repr(Order.operations.cancel) == "<operation store.orders.cancel>"
    assert Order.operations.cancel.__doc__ == "Give the order up."
    with pytest.raises(AttributeError, match=r"no operation 'canel'; did you mean 'cancel'\?"):
        Order.operations.canel(identity)
