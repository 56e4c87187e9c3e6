"""Criteria given as a Django `Q`: the same operators and properties as text, and the same refusals."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db.models import F, Q, Value
from django.db.models.functions import Lower

from tests.core.order_spec import ORDER
from toa.core.criteria import MAX_COMPARISONS, MAX_LIST_VALUES, to_text
from toa.exceptions import InvalidQuery
from toa.models.lookups import check_q, read_query

HEX = "0190b1f0c6d87d0e8b1a5d0c3a0f9e11"


class Status(StrEnum):
    PENDING = "pending"


def text(q: Q) -> str:
    node = check_q(q, ORDER)
    assert node is not None
    return to_text(node)


def refusal(q: Q) -> tuple[str, str]:
    with pytest.raises(InvalidQuery) as caught:
        check_q(q, ORDER)
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        (Q(customer="it's"), r"customer=='it\'s'"),
        (Q(customer__exact="a"), "customer=='a'"),
        (Q(status=Status.PENDING), "status=='pending'"),
        (Q(quantity__lt=5), "quantity<5"),
        (Q(quantity__lte=5), "quantity<=5"),
        (Q(quantity__gt=5), "quantity>5"),
        (Q(quantity__gte=5), "quantity>=5"),
        (Q(quantity__in=[1, 2]), "quantity=in=(1,2)"),
        (Q(quantity__in=()), "quantity=in=()"),
        (Q(quantity=None), "quantity==null"),
        (Q(quantity__isnull=True), "quantity==null"),
        (Q(quantity__isnull=False), "quantity!=null"),
        (Q(total=Decimal("0.10")), "total==0.10"),
        (Q(total=10), "total==10"),
        (Q(total="10.5"), "total==10.5"),
        (Q(weight=0.1), "weight==0.1"),
        (Q(weight__lt=1), "weight<1.0"),
        (Q(gift=True), "gift==true"),
        (Q(pay_by__lt=5), "pay_by<5"),
        (Q(pay_by__lt=datetime(1970, 1, 1, 0, 0, 1, 1999, tzinfo=UTC)), "pay_by<1001"),
        (Q(UPDATED__gte=datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))), "UPDATED>=0"),
        (Q(token=uuid.UUID(HEX)), f"token=='{HEX}'"),
        (Q(token=str(uuid.UUID(HEX)).upper()), f"token=='{HEX}'"),
        (Q(day__lt=date(2026, 3, 1)), "day<2026-03-01"),
        (Q(day__lt="2026-03-01"), "day<2026-03-01"),
        (Q(seen=datetime(2026, 3, 1, tzinfo=UTC)), "seen==2026-03-01T00:00:00+00:00"),
        (Q(owner=7), "owner=='7'"),
        (Q(seller=7), "seller==7"),
        (Q(details__box__depth__lt=3), "details.box.depth<3"),
        (Q(details__free="1"), "details.free=='1'"),
        (Q(details__free=1), "details.free==1"),
        (Q(details__free=2**60 + 1), "details.free==1152921504606846977"),
        (Q(details__free=True), "details.free==true"),
        (Q(details__free__in=["a", "b"]), "details.free=in=('a','b')"),
        (Q(details__free__isnull=True), "details.free==null"),
        (Q(details__lt__exact="x"), "details.lt=='x'"),
        (Q(details=None), "details==null"),
    ],
)
def test_each_lookup_is_the_operator_of_the_same_meaning(q: Q, expected: str) -> None:
    assert text(q) == expected


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        (Q(gift=True, quantity=1), "gift==true;quantity==1"),
        (Q(quantity=1) | Q(gift=True), "quantity==1,gift==true"),
        (Q(quantity=1) & (Q(gift=True) | Q(gift=None)), "quantity==1;(gift==true,gift==null)"),
        (~Q(quantity=1), "quantity!=1"),
        (~~Q(quantity=1), "quantity==1"),
        (~Q(quantity__in=[1]), "quantity=out=(1)"),
        (~Q(quantity__isnull=True), "quantity!=null"),
        (~Q(quantity__isnull=False), "quantity==null"),
        (~Q(quantity__lt=1), "quantity>=1,quantity==null"),
        (~Q(quantity__gte=1), "quantity<1,quantity==null"),
        (~Q(gift=True, quantity=1), "gift!=true,quantity!=1"),
        (~(Q(quantity=1) | Q(gift=True)), "quantity!=1;gift!=true"),
        (~(Q(quantity=1) | ~Q(gift=True)), "quantity!=1;gift==true"),
        (Q(Q(), quantity=1), "quantity==1"),
    ],
)
def test_conditions_are_joined_and_negated(q: Q, expected: str) -> None:
    assert text(q) == expected


def test_no_condition_is_no_criteria() -> None:
    assert check_q(Q(), ORDER) is None
    assert check_q(~Q(), ORDER) is None
    assert check_q(Q(Q(), Q(Q())), ORDER) is None


@pytest.mark.parametrize(
    ("q", "message", "hint"),
    [
        (Q(quantty=1), "no property 'quantty'", "did you mean 'quantity'?"),
        (Q(updated_at__lt=1), "no property 'updated_at'", "this field holds the property 'UPDATED'"),
        (Q(owner_id=1), "no property 'owner_id'", "this field holds the property 'owner'"),
        (
            Q(customer__icontains="a"),
            "customer__icontains: criteria know no lookup 'icontains'",
            "there is exact, lt, lte, gt, gte, in, isnull",
        ),
        (
            Q(pay_by__date=1),
            "pay_by__date: criteria know no lookup 'date'",
            "there is exact, lt, lte, gt, gte, in, isnull",
        ),
        (
            Q(owner__name="a"),
            "owner__name: criteria know no lookup 'name'",
            "there is exact, lt, lte, gt, gte, in, isnull",
        ),
        (Q(quantity__ltt=1), "quantity__ltt: criteria know no lookup 'ltt'", "did you mean 'lt'?"),
        (Q(details__box__dept=1), "no member 'dept' in 'details.box'", "did you mean 'depth'?"),
        (Q(quantity="5"), "'quantity' takes an int, not str", ""),
        (Q(quantity=5.0), "'quantity' takes an int, not float", ""),
        (Q(quantity=True), "'quantity' takes an int, not bool", ""),
        (Q(gift=1), "'gift' takes a bool, not int", ""),
        (Q(total=0.1), "'total' takes a Decimal, not float", ""),
        (Q(pay_by=datetime(2026, 1, 1)), "'pay_by' takes epoch milliseconds or an aware datetime, not datetime", ""),
        (Q(pay_by="2026-01-01"), "'pay_by' takes epoch milliseconds or an aware datetime, not str", ""),
        (Q(day=datetime(2026, 1, 1, tzinfo=UTC)), "'day' takes a date, not datetime", ""),
        (Q(customer=5), "'customer' takes text, not int", ""),
        (Q(customer=b"a"), "'customer' takes text, not bytes", ""),
        (Q(details={"a": 1}), "'details' takes only None, not dict", ""),
        (Q(details__free=[1]), "'details.free' takes text, not list", ""),
        (Q(quantity__in=5), "quantity__in: a list of values, not int", ""),
        (Q(customer__in="abc"), "customer__in: a list of values, not str", ""),
        (Q(quantity__in=[1, None]), "quantity__in: None in a list", "quantity__isnull"),
        (Q(details__free__in=[1, "1"]), "details.free: the values of a list are of one type", ""),
        (Q(quantity__isnull=1), "quantity__isnull: True or False, not int", ""),
        (Q(gift__lt=True), "'gift' is of type boolean, which has no order", ""),
        (Q(quantity__lt=None), "null compares with == and != only, not with <", "write 'null' for the text"),
        (Q(quantity=1) ^ Q(gift=True), "conditions are joined by & and |, not by XOR", ""),
        (
            ~Q(details__free__lt=1),
            "details.free: a negated order would hold for members of other types too",
            "turn the lookup round: gte for lt",
        ),
    ],
)
def test_M13_what_criteria_do_not_know_is_refused(q: Q, message: str, hint: str) -> None:
    assert refusal(q) == (message, hint)


@pytest.mark.parametrize("value", [F("total"), Value(1), Lower("customer"), Group.objects.all()])
def test_M13_expressions_and_subqueries_are_refused(value: Any) -> None:
    message, hint = refusal(Q(quantity=value))
    assert message == f"'quantity' takes an int, not {type(value).__name__}"
    assert hint == "give the value itself, not an expression"
    assert refusal(Q(quantity__in=value))[0].startswith("quantity__in: a list of values")


def test_M13_a_condition_without_a_property_is_refused() -> None:
    from django.db.models.lookups import Exact

    assert refusal(Q(Exact(F("quantity"), 1)))[0] == "a condition names a property, which Exact does not"


@pytest.mark.parametrize(
    "value",
    ["a\x00b", "\ud800", "x" * 5000 + "\x00"],
)
def test_M13_texts_that_cannot_be_stored_are_refused(value: str) -> None:
    assert "cannot be stored" in refusal(Q(customer=value))[0]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**4200])
def test_M13_numbers_out_of_bounds_are_refused(value: int) -> None:
    for name in ("quantity", "pay_by", "total", "seller"):
        assert "does not fit" in refusal(Q(**{name: value}))[0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), 10**400])
def test_M13_numbers_that_are_none_are_refused(value: Any) -> None:
    assert "does not fit" in refusal(Q(weight=value))[0]
    assert "does not fit" in refusal(Q(details__ratio=value))[0]


@pytest.mark.parametrize(
    "value",
    [
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    ],
)
def test_M13_a_moment_that_leaves_the_calendar_in_utc_is_refused(value: datetime) -> None:
    assert "does not fit" in refusal(Q(seen=value))[0]


def test_M13_a_Q_has_the_bounds_of_text() -> None:
    deep = Q(quantity=1)
    for _ in range(10_000):
        deep = Q(deep, gift=True)
    assert refusal(deep)[0] == "conditions nested more than 32 deep"
    wide = Q(*[("quantity", 1)] * (MAX_COMPARISONS + 1))
    assert refusal(wide)[0] == "more than 200 comparisons"
    long = Q(quantity__in=list(range(MAX_LIST_VALUES)))
    assert refusal(long & Q(seller__in=[1]))[0] == "more than 500 values in lists"


def test_a_query_takes_a_Q_or_text() -> None:
    as_q = read_query({"criteria": Q(quantity__lt=5), "limit": 3}, ORDER, limit_required=True)
    assert as_q == read_query({"criteria": "quantity<5", "limit": 3}, ORDER)
    assert read_query({"criteria": Q()}, ORDER) == read_query(None, ORDER)
    with pytest.raises(InvalidQuery, match="a set needs a limit"):
        read_query({"criteria": Q(quantity=5)}, ORDER, limit_required=True)
