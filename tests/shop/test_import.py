"""`manage.py shop_import`: each kind of row, repetitions, and what is said."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

import toa
from store.orders.models import Order
from tests.orders.placing import fill, stock
from toa.models import Delivery, Once

HEADER = "reference,customer,product,quantity,total\n"


def test_orders_are_placed_through_their_operation(toa_clock, tmp_path):
    lines = imported(tmp_path, HEADER + 'A-1,anna,tea,2,"1,234.50"\nA-2,bert,tea,1,5\n')

    assert lines == ["orders.csv: 2 rows: 2 created, 0 already there, 0 refused."]
    assert list(Order.objects.order_by("reference").values_list("reference", "quantity", "total", "status")) == [
        ("A-1", 2, Decimal("1234.50"), "pending"),
        ("A-2", 1, Decimal("5.00"), "pending"),
    ]
    assert Delivery.objects.filter(event="store.orders.created").count() == 2


def test_the_same_file_twice_changes_nothing_also_when_the_once_keys_are_forgotten(toa_clock, tmp_path):
    content = HEADER + "A-1,anna,tea,2,10.00\nA-2,bert,tea,1,5\n"
    imported(tmp_path, content)
    before = list(Order.objects.order_by("id").values())

    for _ in range(2):
        assert imported(tmp_path, content) == ["orders.csv: 2 rows: 0 created, 2 already there, 0 refused."]
        assert list(Order.objects.order_by("id").values()) == before
        Once.objects.all().delete()


def test_another_content_under_a_taken_reference_is_refused_and_the_first_stays(toa_clock, tmp_path):
    lines = imported(tmp_path, HEADER + "A-1,anna,tea,2,10.00\nA-1,anna,tea,2,10\nA-1,anna,tea,3,15.00\n")

    assert lines == [
        "orders.csv:4: reference A-1: another order has it, with quantity 2, here 3, total 10.00, here 15.00",
        "orders.csv: 3 rows: 1 created, 1 already there, 1 refused.",
    ]
    assert Order.objects.get().quantity == 2


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("A-1,anna,tea,-3,10.00", "quantity -3: -3 is less than 1"),
        ("A-1,anna,tea,two,10.00", "quantity two: no whole number in plain figures"),
        ("A-1,anna,tea,1,10000.01", "LIMIT_EXCEEDED: total 10000.01, limit 10000"),
        ("A-1,anna,tea,1,-0.01", "total -0.01: -0.01 is less than 0"),
        ("A-1,anna,tea,1,2.345", "total 2.345: 2345 or 2.345? For the first, write 2345.00"),
        ("A-1,anna,tea,1,1234567890123456789012345678901", "total 1234567890123456789012345678901: the amount has"),
        (",anna,tea,1,10.00", "reference (empty): has 0 characters, fewer than 1"),
        (f"A-1,{'x' * 70},tea,1,10.00", f"customer {'x' * 37}…: has 70 characters, more than 64"),
        ("A-1,anna,tea,1", "4 fields where the header has 5"),
        ("A-1,,,0,", "total (empty): no amount in figures"),
    ],
)
def test_a_refused_row_is_told_with_its_line_and_reason_and_the_rest_goes_on(toa_clock, tmp_path, row, reason):
    lines = imported(tmp_path, HEADER + f"B-1,bert,tea,1,1.00\n{row}\nB-2,bert,tea,1,1.00\n")

    assert lines[0].startswith(f"orders.csv:3: {reason}")
    assert lines[1:] == ["orders.csv: 3 rows: 2 created, 0 already there, 1 refused."]
    assert set(Order.objects.values_list("reference", flat=True)) == {"B-1", "B-2"}


def test_quotes_and_marks_in_a_reference_find_the_very_order(toa_clock, tmp_path):
    content = HEADER.replace(",", ";") + '"it\'s; ""x""";anna;tea;1;1,50\n\\\'*(),;anna;tea;1;1,50\n'

    assert imported(tmp_path, content)[-1].endswith("2 created, 0 already there, 0 refused.")
    assert imported(tmp_path, content)[-1].endswith("0 created, 2 already there, 0 refused.")
    assert set(Order.objects.values_list("reference", flat=True)) == {'it\'s; "x"', "\\'*(),"}


def test_an_order_that_somebody_placed_meanwhile_is_already_there(toa_clock, tmp_path, monkeypatch):
    from shop import importing

    looked_up = importing._known

    def look_up_then_be_overtaken(references):
        found = looked_up(references)
        if len(references) == 2:
            for reference, total in (("A-1", "1.00"), ("A-2", "2.00")):
                order = {"reference": reference, "customer": "anna", "product": "tea", "quantity": 1, "total": total}
                toa.call("store.orders.create", order)
        return found

    monkeypatch.setattr(importing, "_known", look_up_then_be_overtaken)
    lines = imported(tmp_path, HEADER + "A-1,anna,tea,1,1.00\nA-2,anna,tea,1,1.00\n")

    assert lines == [
        "orders.csv:3: reference A-2: another order has it, with total 2.00, here 1.00",
        "orders.csv: 2 rows: 0 created, 1 already there, 1 refused.",
    ]


def test_parts_share_a_file_without_overlap(toa_clock, tmp_path):
    # Each line twice: what two processes placed at the same moment would count twice.
    content = HEADER + "".join(f"A-{number // 2},anna,tea,1,1.00\n" for number in range(60))
    created = [
        json.loads(imported(tmp_path, content, "--json", "--part", f"{part}/3")[0])["created"] for part in (1, 2, 3)
    ]

    assert sum(created) == Order.objects.count() == 30
    assert min(created) >= 1


def test_json_is_one_object_and_the_reasons_go_elsewhere(toa_clock, tmp_path):
    errors = StringIO()
    lines = imported(tmp_path, HEADER + "A-1,anna,tea,1,1.00\nA-2,anna,tea,0,1.00\n", "--json", stderr=errors)

    assert [json.loads(line) for line in lines] == [
        {"file": str(tmp_path / "orders.csv"), "rows": 2, "created": 1, "existing": 0, "refused": 1}
    ]
    assert errors.getvalue() == "orders.csv:3: quantity 0: 0 is less than 1\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,b\n", "orders.csv cannot be used: line 1, the header, has no column 'reference'"),
        (b"", "orders.csv cannot be used: it is empty"),
        (None, "orders.csv cannot be read: No such file or directory."),
    ],
)
def test_a_file_that_cannot_be_used_ends_with_its_reason(toa_clock, tmp_path, content, reason):
    path = tmp_path / "orders.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError) as error:
        call_command("shop_import", path)

    assert reason in str(error.value)
    assert error.value.returncode == 1


def test_first_stock_is_set_once_and_left_alone_afterwards(toa_clock, tmp_path):
    fill("coffee", 3)
    content = "product,available\ntea,10\ncoffee,99\nmilk,-1\n"
    path = tmp_path / "stock.csv"
    path.write_text(content)

    for created, existing in ((1, 1), (0, 2)):
        assert run(path, "--stock") == [
            "stock.csv:4: available -1: -1 is less than 0",
            f"stock.csv: 3 rows: {created} created, {existing} already there, 1 refused.",
        ]
        toa.call("fulfilment.stock.reserve", {"order": "a" * 32, "quantity": 1}, id="tea")
    assert (stock("tea").available, stock("coffee").available) == (9, 3)


def imported(tmp_path, content: str, *options: str, stderr: StringIO | None = None) -> list[str]:
    path = tmp_path / "orders.csv"
    path.write_text(content)
    return run(path, *options, stderr=stderr)


def run(path, *options: str, stderr: StringIO | None = None) -> list[str]:
    out = StringIO()
    call_command("shop_import", path, *options, stdout=out, stderr=stderr)
    return out.getvalue().splitlines()
