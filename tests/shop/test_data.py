"""The shop's own data: the same from its seed, and imported as a whole with each mistake told."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from store.orders.models import Order
from tests.orders.placing import stock

DATA = Path(__file__).resolve().parents[2] / "store" / "data"
SHORT = {"filter-paper", "hand-grinder", "moka-pot"}


def test_the_generator_makes_the_very_files(tmp_path):
    shutil.copy(DATA / "make_orders.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make_orders.py"], check=True)

    for name in ("orders.csv", "orders-eu.csv", "stock.csv"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_each_mistake_of_the_order_book_is_told_and_all_else_is_placed(toa_clock):
    out = StringIO()
    call_command("shop_import", DATA / "orders.csv", stdout=out)
    call_command("shop_import", DATA / "orders-eu.csv", stdout=out)
    said = out.getvalue()

    assert "orders.csv: column 'note' is not known and is ignored." in said
    assert "orders.csv: 644 rows: 620 created, 2 already there, 22 refused." in said
    assert "orders-eu.csv: 24 rows: 24 created, 0 already there, 0 refused." in said
    for reason in ("quantity -3", "LIMIT_EXCEEDED", "broken UTF-8", "another order has it", "a quote is opened"):
        assert reason in said
    assert not Order.objects.filter(reference__startswith="BAD").exists()
    assert Order.objects.values("product").distinct().count() == 40
    assert Order.objects.values("customer").distinct().count() == 120


@pytest.mark.usefixtures("toa_clock")
def test_three_products_run_short():
    call_command("shop_import", DATA / "stock.csv", "--stock", stdout=StringIO())
    asked: dict[str, int] = {}
    call_command("shop_import", DATA / "orders.csv", stdout=StringIO())
    call_command("shop_import", DATA / "orders-eu.csv", stdout=StringIO())
    for product, quantity in Order.objects.values_list("product", "quantity"):
        asked[product] = asked.get(product, 0) + quantity

    with (DATA / "stock.csv").open(newline="") as file:
        products = [row["product"] for row in csv.DictReader(file)]
    assert {product for product in products if stock(product).available < asked[product]} == SHORT
