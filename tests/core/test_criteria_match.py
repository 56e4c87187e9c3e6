"""Criteria on draft values: two truth values, null, and members of objects."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from tests.core.order_spec import PROPERTIES
from toa.core.criteria import matches, parse_criteria

HEX = "0190b1f0c6d87d0e8b1a5d0c3a0f9e11"
BLANK: dict[str, Any] = dict.fromkeys(PROPERTIES)


def holds(text: str, now_ms: int = 0, **values: Any) -> bool:
    return matches(parse_criteria(text, PROPERTIES, allow_now=True), {**BLANK, **values}, now_ms)


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        (4, "!= < <= out"),
        (5, "== <= >= in"),
        (6, "!= > >= out"),
        (None, "!= out"),
    ],
)
def test_each_operator_below_at_above_and_at_null(value: int | None, answers: str) -> None:
    texts = {o: f"quantity{o}5" for o in ("==", "!=", "<", "<=", ">", ">=")}
    texts |= {"in": "quantity=in=(5,7)", "out": "quantity=out=(5,7)"}
    assert {name for name, text in texts.items() if holds(text, quantity=value)} == set(answers.split())


def test_null_is_found_by_equality_alone() -> None:
    assert holds("quantity==null") and not holds("quantity!=null")
    assert holds("quantity!=null", quantity=0) and not holds("quantity==null", quantity=0)
    assert holds("customer=='null'", customer="null") and not holds("customer=='null'")


def test_and_or_and_empty_lists() -> None:
    assert holds("quantity==1,gift==true", gift=True)
    assert not holds("quantity==1;gift==true", gift=True)
    assert holds("(quantity==1,gift==true);customer!=x", quantity=1)
    assert not holds("quantity=in=()", quantity=1)
    assert holds("quantity=out=()", quantity=1) and holds("quantity=out=()")


def test_M19_decimals_compare_as_numbers_not_as_text() -> None:
    total = sum([Decimal("0.10")] * 100, Decimal(0))
    assert holds("total==10.00", total=total) and holds("total==10", total=total)
    assert holds("total=in=(10.0)", total=total)
    assert holds("total>9.99;total<10.01", total=total)


def test_numbers_of_a_column_are_floats_with_NaN_above_all() -> None:
    assert holds("weight==0.1", weight=0.1)
    assert not holds("weight==0.3", weight=0.1 + 0.2)
    assert holds("weight>1e308;weight>=1;weight!=1", weight=math.nan)
    assert not holds("weight<1,weight==1,weight<=1", weight=math.nan)
    assert holds("weight==0", weight=-0.0)


def test_texts_are_ordered_by_code_point() -> None:
    assert holds("customer<'a'", customer="Z")
    assert holds("customer>'z'", customer="é")
    assert holds("customer>'\ufffd'", customer="😀")
    assert holds("customer<'ab'", customer="a")


def test_moments_and_now() -> None:
    assert holds("pay_by<$now", now_ms=1001, pay_by=1000)
    assert not holds("pay_by<$now", now_ms=1000, pay_by=1000)
    assert holds("seen<=$now", now_ms=1000, seen="1970-01-01T00:00:01+00:00")
    assert not holds("seen<=$now", now_ms=999, seen="1970-01-01T00:00:01+00:00")
    assert holds("details.since<$now", now_ms=6, details={"since": 5})


def test_other_types_of_columns() -> None:
    assert holds(f"token=={HEX.upper()}", token=HEX)
    assert holds("day<2026-03-01", day="2026-02-28")
    assert holds("seen==2026-03-01T09:00:00+01:00", seen="2026-03-01T08:00:00+00:00")
    assert holds("owner==7", owner=7) and not holds("owner==7", owner=70)
    assert holds("seller>=7", seller=7)
    assert holds("gift==false", gift=False) and not holds("gift==false")


@pytest.mark.parametrize(
    ("text", "member", "expected"),
    [
        ("==1", 1, True),
        ("==1", 1.0, True),
        ("==1", "1", False),
        ("==1", True, False),
        ("=='1'", "1", True),
        ("=='1'", 1, False),
        ("==true", True, True),
        ("==true", 1, False),
        ("==0.1", 0.1, True),
        ("<0.1", 0.1, False),
        (">1", 2**70, True),
        ("!=1", "1", True),
        ("!=1", None, True),
        ("<1", "0", False),
        ("<1", None, False),
        ("==null", None, True),
        ("==null", "null", False),
        ("!=null", {}, True),
        ("!=null", [], True),
        ("=in=('a','b')", "b", True),
        ("=out=('a','b')", "b", False),
        ("=out=('a','b')", 3, True),
        (">'Z'", "a", True),
        ("==a", ["a"], False),
    ],
)
def test_members_compare_by_their_json_type(text: str, member: Any, expected: bool) -> None:
    assert holds(f"details.free{text}", details={"free": member}) is expected


def test_paths_lead_through_objects_only() -> None:
    assert holds("details.a.b==1", details={"a": {"b": 1}})
    assert not holds("details.a.0==1", details={"a": [1]})
    for nothing in (None, {}, {"a": None}, {"a": {}}, {"a": "b"}, {"a": [{"b": 1}]}, {"a": {"b": None}}):
        assert holds("details.a.b==null;details.a.b!=1", details=nothing)
        assert not holds("details.a.b!=null,details.a.b==1", details=nothing)
    assert holds("details.'a.b'==1", details={"a.b": 1})
    assert holds("details==null") and holds("details!=null", details={})


def test_declared_members() -> None:
    assert holds("details.price==1.5", details={"price": "1.50"})
    assert holds("details.price<10", details={"price": "9.99"})
    assert holds("details.price<10", details={"price": Decimal("9.99")})
    assert not holds("details.price<10", details={"price": 9.99})
    assert not holds("details.price<10", details={"price": "9.99\n"})
    assert not holds("details.price<10", details={"price": "nine"})
    assert holds(f"details.code=={HEX.upper()}", details={"code": HEX})


def test_a_property_that_the_values_do_not_have_is_an_error_not_a_null() -> None:
    with pytest.raises(KeyError):
        matches(parse_criteria("quantity==null", PROPERTIES), {}, 0)
