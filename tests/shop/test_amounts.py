"""Figures as people write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shop.amounts import UnreadableFigure, read_amount, read_count


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1234", "1234"),
        ("12.5", "12.5"),
        ("12,5", "12.5"),
        ("1,234.50", "1234.50"),
        ("1.234,50", "1234.50"),
        ("1'234.50", "1234.50"),
        ("1’234,50", "1234.50"),
        ("1 234,50", "1234.50"),
        ("1\N{NARROW NO-BREAK SPACE}234\N{NO-BREAK SPACE}567,89", None),
        ("1\N{NO-BREAK SPACE}234\N{NO-BREAK SPACE}567,89", "1234567.89"),
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("1,234,567.89", "1234567.89"),
        ("1.234,567", "1234.567"),
        ("12345,678", "12345.678"),
        ("0.125", "0.125"),
        ("-3.20", "-3.20"),
        ("+3.20", "3.20"),
    ],
)
def test_an_amount_that_can_be_read_in_one_way_is_read(text, amount):
    assert read_amount(text) == Decimal(amount or "1234567.89")


@pytest.mark.parametrize("text", ["1,234", "1.234", "12,345", "999.999"])
def test_an_amount_that_can_be_read_in_two_ways_is_refused_with_both(text):
    digits = text.replace(",", "").replace(".", "")
    with pytest.raises(
        UnreadableFigure, match=rf"^{digits} or {text.replace(',', '.')}\? For the first, write {digits}.00"
    ):
        read_amount(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-", "12.", ".5", "1.5e3", "NaN", "Infinity", "(5)", "EUR 5", "5 EUR", "1,23,4.00", "12,34,567.00"),
        *("1,2,3", "1.234,567.89", "1.234'567", "1  234", "1,,234.00", "١٢", "0x10", "1_000"),
    ],
)
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(UnreadableFigure):
        read_amount(text)


@given(
    st.decimals(min_value=0, max_value=10**12, places=2),
    st.sampled_from([(",", "."), (".", ","), ("'", "."), (" ", ",")]),
)
def test_whatever_a_program_writes_with_thousands_and_cents_is_read_as_it_was_meant(amount, marks):
    thousands, decimal = marks
    written = f"{amount:,.2f}".translate(str.maketrans({",": thousands, ".": decimal}))

    assert read_amount(written) == amount


@given(st.text(alphabet="0123456789.,' -+", max_size=12))
def test_a_text_is_read_as_its_own_digits_or_refused(text):
    try:
        amount = read_amount(text)
    except UnreadableFigure:
        return
    digits = "".join(character for character in text if character.isdigit())
    assert "".join(map(str, amount.as_tuple().digits)).lstrip("0") == digits.lstrip("0")


@pytest.mark.parametrize(("text", "count"), [("3", 3), ("-3", -3), ("+3", 3), ("007", 7)])
def test_a_whole_number_is_read(text, count):
    assert read_count(text) == count


@pytest.mark.parametrize("text", ["", "1.5", "1,000", "two", "٣", "1" * 19, "1e3", "- 3"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(UnreadableFigure, match="no whole number"):
        read_count(text)
