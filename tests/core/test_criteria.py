"""Reading criteria: what the text means, and what is refused, where, with which hint."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.core.order_spec import PROPERTIES
from toa.core.criteria import (
    MAX_COMPARISONS,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_LIST_VALUES,
    NOW,
    And,
    Comparison,
    Node,
    Operator,
    Or,
    parse_criteria,
    to_text,
)
from toa.core.specs import PropertyType
from toa.exceptions import InvalidQuery

HEX = "0190b1f0c6d87d0e8b1a5d0c3a0f9e11"
DASHED = "0190b1f0-c6d8-7d0e-8b1a-5d0c3a0f9e11"


def parse(text: str, *, allow_now: bool = False) -> Node:
    return parse_criteria(text, PROPERTIES, allow_now=allow_now)


def value_of(text: str) -> Any:
    node = parse(text)
    assert isinstance(node, Comparison)
    return node.values[0]


def refusal(text: str, *, allow_now: bool = False) -> tuple[int | None, str, str]:
    with pytest.raises(InvalidQuery) as caught:
        parse(text, allow_now=allow_now)
    return caught.value.position, caught.value.message, caught.value.hint


def test_and_binds_closer_than_or() -> None:
    node = parse("quantity==1,quantity==2;gift==true")
    assert isinstance(node, Or)
    assert isinstance(node.items[0], Comparison)
    assert isinstance(node.items[1], And)


def test_parentheses_group_and_leave_no_trace_where_they_change_nothing() -> None:
    assert parse("((quantity==1);(gift==true;(total<2)))") == parse("quantity==1;gift==true;total<2")
    node = parse("(quantity==1,quantity==2);gift==true")
    assert isinstance(node, And)
    assert isinstance(node.items[0], Or)


def test_space_between_pieces_means_nothing() -> None:
    assert parse("  quantity  >= 1 ;\n( gift == true ,\ttotal =in= ( 1.00 , 2.00 ) ) ") == parse(
        "quantity>=1;(gift==true,total=in=(1.00,2.00))"
    )


@pytest.mark.parametrize("operator", list(Operator))
def test_every_operator_is_read(operator: Operator) -> None:
    text = f"quantity{operator}(1,2)" if operator in ("=in=", "=out=") else f"quantity{operator}1"
    node = parse(text)
    assert isinstance(node, Comparison)
    assert node.operator is operator
    assert node.values == ((1, 2) if operator in ("=in=", "=out=") else (1,))
    assert to_text(node) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("customer==anna", "anna"),
        ("customer=='van Dyck'", "van Dyck"),
        ('customer=="it\'s"', "it's"),
        (r"customer=='it\'s'", "it's"),
        (r'customer=="back\\slash"', "back\\slash"),
        (r"customer=='a\b'", "ab"),
        ("customer==''", ""),
        ("customer=='null'", "null"),
        ("customer==12kg", "12kg"),
        ("customer==größe-µ", "größe-µ"),
        ("customer=='$now'", "$now"),
        ("mail==anna+shop@example.org", "anna+shop@example.org"),
        ("status==packed", "packed"),
        ("quantity==-12", -12),
        ("quantity=='12'", 12),
        ("quantity==9223372036854775807", 2**63 - 1),
        ("total==10", Decimal(10)),
        ("total==-0.10", Decimal("-0.10")),
        ("total==999999999999999999.99", Decimal("999999999999999999.99")),
        ("weight==1", 1.0),
        ("weight==-2.5e-3", -0.0025),
        ("gift==true", True),
        ("gift==false", False),
        ("pay_by==1767225600000", 1767225600000),
        ("pay_by==-1", -1),
        (f"token=={HEX}", HEX),
        (f"token=={DASHED.upper()}", HEX),
        (f"token=={{{DASHED}}}", HEX),
        (f"token==URN:uuid:{DASHED}", HEX),
        ("day==2028-02-29", date(2028, 2, 29)),
        ("seen==2026-03-01T09:00:00+01:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("seen==2026-03-01T09:00:00.25Z", datetime(2026, 3, 1, 9, 0, 0, 250_000, tzinfo=UTC)),
        ("owner==7", "7"),
        ("seller==7", 7),
        ("VERSION==3", 3),
        ("UPDATED==0", 0),
        ("customer==null", None),
        ("details.note!=null", None),
        ("details!=null", None),
        ("marks==null", None),
    ],
)
def test_values_are_read_in_the_type_of_their_property(text: str, value: Any) -> None:
    read = value_of(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "path", "kind", "value"),
    [
        ("details.colour==red", ("colour",), PropertyType.STRING, "red"),
        ("details.count==3", ("count",), PropertyType.INTEGER, 3),
        ("details.ratio==0.1", ("ratio",), PropertyType.NUMBER, Decimal("0.1")),
        ("details.price==1.50", ("price",), PropertyType.DECIMAL, Decimal("1.50")),
        ("details.flag==true", ("flag",), PropertyType.BOOLEAN, True),
        ("details.since==0", ("since",), PropertyType.MOMENT, 0),
        (f"details.code=={DASHED}", ("code",), PropertyType.UUID, HEX),
        ("details.box.depth==2", ("box", "depth"), PropertyType.INTEGER, 2),
        (f"details.held.{HEX}>=2", ("held", HEX), PropertyType.INTEGER, 2),
        ("details.free==1", ("free",), PropertyType.NUMBER, Decimal(1)),
        ("details.free=='1'", ("free",), PropertyType.STRING, "1"),
        ("details.free==true", ("free",), PropertyType.BOOLEAN, True),
        ("details.free=='true'", ("free",), PropertyType.STRING, "true"),
        ("details.free==blue", ("free",), PropertyType.STRING, "blue"),
        ("details.free.deeper-still==1", ("free", "deeper-still"), PropertyType.NUMBER, Decimal(1)),
        ("details.'a key. of \"any\" kind'==1", ('a key. of "any" kind',), PropertyType.NUMBER, Decimal(1)),
    ],
)
def test_dotted_paths_lead_to_members_typed_by_their_schema_or_spelling(
    text: str, path: tuple[str, ...], kind: PropertyType, value: Any
) -> None:
    node = parse(text)
    assert isinstance(node, Comparison)
    assert (node.selector, node.path, node.type, node.values) == ("details", path, kind, (value,))


@pytest.mark.parametrize(
    ("text", "position", "message", "hint"),
    [
        ("quantity==1;statuss==packed", 12, "no property 'statuss'", "did you mean 'status'?"),
        ("updated<1", 0, "no property 'updated'", "did you mean 'UPDATED'?"),
        ("updated_at<1", 0, "no property 'updated_at'", "did you mean 'UPDATED'?"),
        ("details.box.dept==1", 0, "no member 'dept' in 'details.box'", "did you mean 'depth'?"),
        ("customer.name==x", 0, "'customer' is of type string, which has no members", ""),
        ("marks.0==1", 0, "'marks' is of type array, which has no members", ""),
        ("details.count.x==1", 0, "'details.count' is of type integer, which has no members", ""),
    ],
)
def test_M13_unknown_selectors_are_refused_with_the_nearest_known(
    text: str, position: int, message: str, hint: str
) -> None:
    found = refusal(text)
    assert found[0] == position
    assert found[1].startswith(message)
    assert found[2] == hint


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("quantity==12kg", 10),
        ("quantity==1.0", 10),
        ("quantity==012", 10),
        ("quantity==+1", 10),
        ("quantity==1e3", 10),
        ("quantity==١٢", 10),
        ("quantity==9223372036854775808", 10),
        ("quantity==" + "9" * 4000, 10),
        ("quantity=in=(1,2,x)", 17),
        ("quantity==''", 10),
        ("total==1e3", 7),
        ("total==.5", 7),
        ("total==5.", 7),
        ("total==0.005", 7),
        ("total==1000000000000000000", 7),
        ("total==NaN", 7),
        ("weight==NaN", 8),
        ("weight==inf", 8),
        ("weight==1e400", 8),
        ("weight==1e-400", 8),
        ("weight==0x10", 8),
        ("weight==1_000", 8),
        ("gift==True", 6),
        ("gift==1", 6),
        ("pay_by==2026-01-01T00:00:00Z", 8),
        ("pay_by==0.5", 8),
        ("pay_by==253402300800000", 8),
        ("token==xyz", 7),
        ("token==0190b1f0-c6d8-7d0e-8b1a5d0c3a0f9e11", 7),
        (f"token=={{{DASHED}", 7),
        (f"token=={DASHED}}}", 7),
        ("day==2026-02-30", 5),
        ("day==20260201", 5),
        ("day==2026-02-01T00:00:00Z", 5),
        ("seen==2026-02-01", 6),
        ("seen==2026-02-01T00:00:00", 6),
        ("seen=='2026-02-01T25:00:00Z'", 6),
        ("seen==0001-01-01T00:00:00+10:00", 6),
        ("status==lost", 8),
        ("seller==anna", 8),
        ("details.count==1.5", 15),
        ("details.colour==blue", 16),
        ("details.price==1.505", 15),
        ("details==1", 9),
        ("details=='{}'", 9),
        ("details.box==1", 13),
        ("marks==1", 7),
    ],
)
def test_M13_a_value_of_the_wrong_type_is_refused_at_its_place(text: str, position: int) -> None:
    found = refusal(text)
    assert found[0] == position
    assert "does not fit" in found[1]


def test_an_unknown_enum_value_gets_the_nearest() -> None:
    assert refusal("status==aproved") == (
        8,
        "'aproved' does not fit 'status': it is none of pending, approved, packed, cancelled",
        "did you mean 'approved'?",
    )


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("gift<true", 4, "'gift' is of type boolean, which has no order"),
        ("owner>7", 5, "'owner' is of type ref, which has no order"),
        ("details>1", 7, "'details' is of type object, which has no order"),
        ("marks<=1", 5, "'marks' is of type array, which has no order"),
        ("details.flag>=true", 12, "'details.flag' is of type boolean, which has no order"),
        ("details.free<false", 12, "'details.free' is of type boolean, which has no order"),
        ("customer<null", 8, "null compares with == and != only, not with <"),
        ("details.free>=null", 12, "null compares with == and != only, not with >="),
        ("customer=in=(a,null)", 15, "null in a list"),
        ("details.free=in=(1,'1')", 19, "the values of a list are of one type"),
    ],
)
def test_operators_that_do_not_fit_are_refused(text: str, position: int, message: str) -> None:
    assert refusal(text)[:2] == (position, message)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("   ", 0),
        (";", 0),
        ("quantity", 8),
        ("quantity=", 8),
        ("quantity==", 10),
        ("quantity=1", 8),
        ("quantity~1", 8),
        ("quantity=gt=1", 8),
        ("quantity==1;", 12),
        ("quantity==1,,gift==true", 12),
        ("quantity==1 gift==true", 12),
        ("quantity==(1)", 10),
        ("quantity=in=1", 12),
        ("quantity=in=(1", 14),
        ("quantity=in=(1;2)", 14),
        ("quantity=in=(1,)", 15),
        ("(quantity==1", 12),
        ("quantity==1)", 11),
        ("()", 1),
        ("customer=='open", 10),
        ("customer=='open\\", 10),
        ("customer==\"open'", 10),
        ("customer=='a'b", 13),
        ("customer==O'Neill", 11),
        ("details.==1", 8),
        ("details.'open==1", 8),
        (".details==1", 0),
        ("customer==a\x00b", 11),
        ("customer=='\ud800'", 11),
        ("'customer'==a", 0),
        ("quantity<>1", 9),
        ("1==1;1==1", 0),
    ],
)
def test_a_broken_text_is_refused_at_the_place_it_breaks(text: str, position: int) -> None:
    assert refusal(text)[0] == position


def test_operators_of_other_dialects_are_pointed_to_ours() -> None:
    assert refusal("quantity=le=1")[1:] == ("no operator =le=", "write <=")
    assert refusal("quantity=int=(1)")[1:] == ("no operator =int=", "did you mean '=in='?")


def test_M13_ten_thousand_parentheses_are_refused() -> None:
    assert refusal("(" * 10_000) == (MAX_LENGTH, "criteria of 10000 characters; 4096 at most", "")
    assert refusal("(" * 4000)[:2] == (MAX_DEPTH, "parentheses 33 deep; 32 at most")
    assert refusal("(" * 33 + "quantity==1" + ")" * 33)[0] == 32
    assert parse("(" * 32 + "quantity==1" + ")" * 32) == parse("quantity==1")


def test_length_comparisons_and_lists_are_bounded() -> None:
    name = "customer=='" + "x" * (MAX_LENGTH - 12) + "'"
    assert len(name) == MAX_LENGTH
    assert value_of(name) == "x" * (MAX_LENGTH - 12)
    assert refusal(name + " ")[0] == MAX_LENGTH

    many = ",".join(["quantity==1"] * MAX_COMPARISONS)
    assert len(parse(many).items) == MAX_COMPARISONS  # type: ignore[union-attr]
    assert refusal(many + ",quantity==1")[:2] == (len(many) + 1, "more than 200 comparisons")

    half = ",".join(["1"] * (MAX_LIST_VALUES // 2))
    both = f"quantity=in=({half});quantity=out=({half})"
    assert isinstance(parse(both), And)
    assert refusal(both[:-1] + ",1)")[:2] == (len(both), "more than 500 values in lists")


def test_an_empty_list_is_a_list() -> None:
    node = parse("quantity=in=()")
    assert isinstance(node, Comparison)
    assert node.values == ()


def test_now_stands_only_where_it_is_allowed_and_only_for_a_moment() -> None:
    node = parse("pay_by<$now;seen>=$now;details.since!=$now", allow_now=True)
    assert isinstance(node, And)
    assert [item.values for item in node.items if isinstance(item, Comparison)] == [(NOW,)] * 3
    assert to_text(node) == "pay_by<$now;seen>=$now;details.since!=$now"
    assert refusal("pay_by<$now")[:2] == (7, "$now stands in criteria that a manifest declares")
    assert refusal("customer==$now")[0] == 10
    assert refusal("quantity<$now", allow_now=True)[:2] == (
        9,
        "'quantity' is not a moment, so $now does not fit it",
    )
    assert refusal("pay_by=in=(0,$now)", allow_now=True)[:2] == (13, "$now in a list")
    assert refusal("pay_by<'$now'", allow_now=True)[0] == 7


def test_M13_quotes_and_SQL_are_only_text() -> None:
    attempts = [
        "' OR 1=1 --",
        "'; DROP TABLE orders; --",
        '" = "',
        "%s %(x)s %%",
        "\\'",
        "a\\",
        "$$;SELECT pg_sleep(1)$$",
    ]
    for attempt in attempts:
        quoted = "'" + attempt.replace("\\", "\\\\").replace("'", "\\'") + "'"
        assert value_of(f"customer=={quoted}") == attempt


def test_M19_decimals_are_exact() -> None:
    value = value_of("total==0.10")
    assert sum([value] * 100) == Decimal("10.00")


@pytest.mark.parametrize(
    "text",
    [
        "status=='pending';pay_by<0",
        "(total>=10.00,customer=in=('anna','van Dyck'));gift!=null",
        "details.free==1,details.free=='1',details.'x y'.z==true",
        r"customer=='it\'s \\ here'",
        f"token=='{HEX}';day==2026-03-01;seen<2026-03-01T09:00:00+00:00",
        "weight==0.1;weight<1e+16;details.ratio>1E-20;details.ratio==0.0000000001",
        "quantity=in=();details.free=out=()",
        "quantity==1,(gift==true,total<2.00;quantity==3);weight==1.0",
    ],
)
def test_the_canonical_text_reads_as_the_same_tree(text: str) -> None:
    node = parse(text)
    written = to_text(node)
    assert parse(written) == node
    assert to_text(parse(written)) == written


def test_messages_do_not_repeat_a_long_value() -> None:
    message = refusal("quantity==" + "x" * 3000)[1]
    assert len(message) < 200
    assert re.search(r"x{40}…", message)


def test_the_page_on_criteria_shows_refusals_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "criteria.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+)` \| (\d+) \| (.+?) \|(?: (.+))? \|$", page, re.MULTILINE)
    assert len(rows) == 9
    for text, position, message, hint in rows:
        assert refusal(text) == (int(position), message, hint)
