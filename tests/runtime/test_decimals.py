"""Money on its way through operations, JSON and criteria: no cent is lost or made."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.db.models import Sum

import toa
from tests.components.tallies.models import Tally
from toa.exceptions import InvalidInput, InvalidQuery
from toa.manifests.schemas import to_json

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"
DIME, TEN = Decimal("0.10"), Decimal("10.00")


@pytest.fixture
def tally(toa_clock):
    return Tally.operations.create(name="purse").id


def exactly(value: object) -> bool:
    """Whether it is ten, to two places, and no float that only looks like it."""
    return isinstance(value, Decimal) and str(value) == "10.00"


@pytest.mark.parametrize("given", ["0.10", "0.1", DIME, Decimal("0.1")])
def test_M19_a_dime_a_hundred_times_over_an_operation_is_exactly_ten(tally, given):
    replies = [toa.call(f"{TALLIES}.pay", {"amount": given}, id=tally).amount for _ in range(100)]

    assert exactly(replies[-1])
    assert exactly(Tally.objects.get().amount)
    assert exactly(toa.call(f"{TALLIES}.observe", id=tally).amount)
    assert replies[:3] == [Decimal("0.10"), Decimal("0.20"), Decimal("0.30")]


def test_M19_a_hundred_dimes_read_from_JSON_are_exactly_ten(toa_clock):
    for number in range(100):
        toa.call(f"{TALLIES}.create", json.loads(f'{{"name": "{number}", "amount": "0.10"}}'))

    rows = toa.call(f"{TALLIES}.enumerate", limit=1000)
    text = json.dumps(to_json([row.amount for row in rows]))
    assert text == json.dumps(["0.10"] * 100)
    assert exactly(sum((Decimal(amount) for amount in json.loads(text)), Decimal("0.00")))
    assert exactly(Tally.objects.aggregate(sum=Sum("amount"))["sum"])


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        ("amount==10.00", ["purse"]),
        ("amount==10", ["purse"]),
        ("amount==10.0", ["purse"]),
        ("amount>=10.00;amount<=10.00", ["purse"]),
        ("amount>10.00", []),
        ("amount<10.00", ["dime"]),
        ("amount==0.1", ["dime"]),
        ("amount=in=(0.10,10)", ["dime", "purse"]),
        ("amount!=10.00", ["dime"]),
    ],
)
def test_M19_criteria_find_exactly_ten(tally, criteria, found):
    for _ in range(100):
        toa.call(f"{TALLIES}.pay", {"amount": "0.10"}, id=tally)
    toa.call(f"{TALLIES}.create", {"name": "dime", "amount": "0.10"})

    rows = toa.call(f"{TALLIES}.enumerate", criteria=criteria, sort="name", limit=10)
    assert [row.name for row in rows] == found


def test_M19_what_could_not_be_exact_is_refused(tally):
    for amount in (0.1, 1, "0.105", "NaN", "1e400"):
        with pytest.raises(InvalidInput, match="/amount"):
            toa.call(f"{TALLIES}.pay", {"amount": amount}, id=tally)
    with pytest.raises(InvalidQuery):
        toa.call(f"{TALLIES}.enumerate", criteria="amount==ten", limit=10)
    assert Tally.objects.get().amount == Decimal("0.00")
