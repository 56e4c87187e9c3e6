"""Keyset cursors: what they carry, and that nothing else is taken for one."""

from __future__ import annotations

import json
import math
import string
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.order_spec import ORDER
from toa.core.cursor import MAX_CURSOR, SortKey, decode_cursor, encode_cursor
from toa.core.query import parse_query
from toa.exceptions import InvalidQuery

HEX = "0190b1f0c6d87d0e8b1a5d0c3a0f9e11"
OTHER = "0190b1f0c6d87d0e8b1a5d0c3a0f9e12"


def order_of(sort: str) -> tuple[SortKey, ...]:
    return parse_query({"sort": sort}, ORDER).order


@pytest.mark.parametrize(
    ("name", "stored", "carried"),
    [
        ("reference", "a\"b'é😀", "a\"b'é😀"),
        ("customer", None, None),
        ("quantity", -5, -5),
        ("total", Decimal("10.50"), Decimal("10.50")),
        ("weight", 0.1, 0.1),
        ("weight", 2, 2.0),
        ("weight", math.inf, math.inf),
        ("gift", False, False),
        ("pay_by", 1500, datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
        (
            "pay_by",
            datetime(2026, 1, 1, 0, 0, 0, 123_456, tzinfo=UTC),
            datetime(2026, 1, 1, 0, 0, 0, 123_456, tzinfo=UTC),
        ),
        ("seen", "2026-01-01T00:00:00.000001+00:00", datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        ("seen", "2026-01-01t00:00:00.000001z", datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        ("token", uuid.UUID(OTHER), OTHER),
        ("day", datetime(2026, 3, 1).date(), datetime(2026, 3, 1).date()),
        ("day", "2026-03-01", datetime(2026, 3, 1).date()),
        ("owner", 7, "7"),
        ("seller", 7, 7),
    ],
)
def test_a_cursor_carries_the_sort_values_of_its_row(name: str, stored: Any, carried: Any) -> None:
    order = order_of(name)
    text = encode_cursor(order, {name: stored, "id": uuid.UUID(HEX)})
    assert set(text) <= set(string.ascii_letters + string.digits + "-_")
    values = decode_cursor(text, order).values
    assert values == (carried, HEX)
    assert type(values[0]) is type(carried)


def test_NaN_is_carried() -> None:
    order = order_of("weight")
    assert math.isnan(decode_cursor(encode_cursor(order, {"weight": math.nan, "id": HEX}), order).values[0])


def test_a_query_reads_its_cursor_by_its_own_sort() -> None:
    text = encode_cursor(order_of("-total"), {"total": Decimal(3), "id": HEX})
    query = parse_query({"sort": ["-total"], "after": text, "limit": 10}, ORDER)
    assert query.after is not None
    assert query.after.values == (Decimal(3), HEX)


@pytest.mark.parametrize("sort", ["total", "-total,id", "-quantity", "-total,reference", "id"])
def test_a_cursor_of_another_sort_is_refused(sort: str) -> None:
    text = encode_cursor(order_of("-total"), {"total": Decimal(3), "id": HEX})
    with pytest.raises(InvalidQuery, match="another sort"):
        decode_cursor(text, order_of(sort))


def test_a_changed_cursor_is_refused() -> None:
    order = order_of("-total")
    text = encode_cursor(order, {"total": Decimal(3), "id": HEX})
    raw = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    for changed in (
        [raw[0], "4", HEX],
        [raw[0], "3", OTHER],
        [raw[0], "3"],
        [raw[0], "3", HEX, HEX],
        raw[::-1],
    ):
        packed = urlsafe_b64encode(json.dumps(changed, separators=(",", ":")).encode()).decode().rstrip("=")
        with pytest.raises(InvalidQuery, match="was changed"):
            decode_cursor(packed, order)
    for position in range(len(text)):
        swapped = text[:position] + ("B" if text[position] == "A" else "A") + text[position + 1 :]
        with pytest.raises(InvalidQuery):
            decode_cursor(swapped, order)


def test_a_cursor_has_one_spelling() -> None:
    order = order_of("-total")
    text = encode_cursor(order, {"total": Decimal(3), "id": HEX})
    raw = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    spaced = urlsafe_b64encode(json.dumps(raw).encode()).decode().rstrip("=")
    for other in (spaced, text + "=", text + "\n", f" {text}"):
        with pytest.raises(InvalidQuery, match="not a cursor"):
            decode_cursor(other, order)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "AA==",
        "é",
        "null",
        "W10",
        "e30",
        "WzFd",
        "A" * (MAX_CURSOR + 1),
        "W" * 4000,
        7,
        b"x",
        ["x"],
        True,
    ],
)
def test_what_is_no_cursor_is_refused(text: Any) -> None:
    with pytest.raises(InvalidQuery):
        decode_cursor(text, order_of("total"))


def test_values_that_the_property_does_not_take_are_refused_even_with_a_digest() -> None:
    nothing = encode_cursor(order_of("total"), {"total": "abc", "id": HEX})
    with pytest.raises(InvalidQuery, match="does not fit 'total'"):
        decode_cursor(nothing, order_of("total"))
    null = encode_cursor(order_of("reference"), {"reference": None, "id": HEX})
    with pytest.raises(InvalidQuery, match="another sort"):
        decode_cursor(null, order_of("reference"))
    far = encode_cursor(order_of("pay_by"), {"pay_by": 10**30, "id": HEX})
    with pytest.raises(InvalidQuery, match="not a cursor"):
        decode_cursor(far, order_of("pay_by"))


def test_sort_values_too_long_for_a_cursor_are_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidQuery, match="too long"):
        encode_cursor(order_of("reference"), {"reference": "x" * MAX_CURSOR, "id": HEX})


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.text(alphabet=string.ascii_letters + string.digits + "-_", max_size=80),
        st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=6).map(
            lambda value: urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
        ),
    )
)
def test_M13_any_text_for_a_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        decode_cursor(text, order_of("total,reference"))
