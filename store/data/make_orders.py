#!/usr/bin/env python3
"""Makes the data of the shop: `python store/data/make_orders.py`. The same files each time, from one seed.

orders.csv      a shop's order book as another system exported it, with the mistakes that such files have
orders-eu.csv   the same kind of file from a European spreadsheet: semicolons, a byte order mark, 1.234,50
stock.csv       what is on the shelves at the beginning; three products run short
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

SEED = 20261130
HERE = Path(__file__).resolve().parent
ORDERS, EUROPEAN = 620, 24
CUSTOMERS = 120
SHORT = ("filter-paper", "hand-grinder", "moka-pot")
"""Products of which there is less than is asked for."""

GOODS = (
    ("beans-brazil", "14.90"),
    ("beans-colombia", "16.50"),
    ("beans-ethiopia", "18.90"),
    ("beans-guatemala", "17.40"),
    ("beans-india", "15.20"),
    ("beans-kenya", "19.80"),
    ("beans-peru", "16.10"),
    ("beans-sumatra", "17.90"),
    ("beans-decaf", "16.80"),
    ("beans-house-blend", "12.90"),
    ("tea-assam", "8.40"),
    ("tea-darjeeling", "11.30"),
    ("tea-earl-grey", "7.90"),
    ("tea-genmaicha", "9.60"),
    ("tea-jasmine", "8.80"),
    ("tea-lapsang", "10.20"),
    ("tea-mint", "6.50"),
    ("tea-oolong", "12.70"),
    ("tea-rooibos", "6.90"),
    ("tea-sencha", "10.90"),
    ("cup-espresso", "7.50"),
    ("cup-latte", "11.00"),
    ("cup-travel", "24.90"),
    ("dripper-ceramic", "27.50"),
    ("dripper-steel", "34.00"),
    ("filter-paper", "4.20"),
    ("french-press", "39.90"),
    ("hand-grinder", "89.00"),
    ("kettle-gooseneck", "74.50"),
    ("kettle-electric", "129.00"),
    ("milk-jug", "19.90"),
    ("moka-pot", "36.40"),
    ("scale", "49.00"),
    ("server-glass", "22.30"),
    ("spoon-cupping", "9.10"),
    ("syrup-caramel", "6.20"),
    ("syrup-vanilla", "6.20"),
    ("tamper", "42.00"),
    ("thermometer", "14.40"),
    ("timer", "17.70"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    reference: str
    customer: str
    product: str
    quantity: int
    total: Decimal
    note: str = ""

    def line(self, *, total: str | None = None, quantity: str | None = None) -> str:
        """The order as it stands in orders.csv; the figures may be written in another way."""
        shown = total or str(self.total)
        shown = f'"{shown}"' if "," in shown else shown
        cells = (self.reference, self.customer, self.product, quantity or str(self.quantity), shown, self.note)
        return ",".join(cells)

    def european(self) -> str:
        whole, places = f"{self.total:,.2f}".split(".")
        cells = (self.reference, self.customer, self.product, str(self.quantity), f"{whole.replace(',', '.')},{places}")
        return ";".join(cells)


def orders(chance: random.Random, first: int, count: int) -> list[Order]:
    """So many orders, numbered from `first`; now and then a café buys a lot."""
    made = []
    for number in range(first, first + count):
        product, price = GOODS[chance.randrange(len(GOODS))]
        quantity = chance.randrange(40, 70) if chance.randrange(40) == 0 else chance.randrange(1, 6)
        made.append(
            Order(
                reference=f"WEB-{number:05}",
                customer=f"customer-{chance.randrange(1, CUSTOMERS + 1):03}",
                product=product,
                quantity=quantity,
                total=Decimal(price) * quantity,
                note=chance.choice(("", "", "", "gift", "leave at the door", '"ring twice, please"')),
            )
        )
    return made


def with_mistakes(chance: random.Random, good: list[Order]) -> list[bytes]:
    """The lines of orders.csv: good orders, and between them what people and programs do to such files."""
    lines = [order.line().encode() for order in good]
    # Thousands as other systems write them: these can be read.
    large = [place for place, order in enumerate(good) if order.total >= 1000]
    for mark, place in zip(",,' ", large, strict=False):
        total = f"{good[place].total:,.2f}".replace(",", mark)
        lines[place] = good[place].line(total=total).encode()
    template = good[chance.randrange(len(good))]

    def wrong(reference: str, **figures: str) -> bytes:
        order = Order(
            reference=reference,
            customer=template.customer,
            product=template.product,
            quantity=template.quantity,
            total=template.total,
        )
        return order.line(**figures).encode()

    mistakes = [
        wrong("BAD-001", quantity="-3"),
        wrong("BAD-002", quantity="0"),
        wrong("BAD-003", quantity="two"),
        wrong("BAD-004", quantity="1.5"),
        wrong("BAD-005", total="12500.00"),
        wrong("BAD-006", total="99,999.90"),
        wrong("BAD-007", total="1,234"),
        wrong("BAD-008", total="-14.90"),
        wrong("BAD-009", total="14.905"),
        wrong("BAD-010", total="EUR 14.90"),
        wrong("BAD-011", total="1,23,4.00"),
        wrong(""),
        b"BAD-012,customer-001,tea-mint,1",
        b"BAD-013,customer-001,tea-mint,1,6.50,left,over",
        b'BAD-014,"customer-001,tea-mint,1,6.50,',
        "BAD-015,Jos\u00e9,tea-mint,1,6.50,".encode("latin-1"),
        b"BAD-016,customer-\xff\xfe,tea-mint,1,6.50,",
        b"BAD-017,customer-001,tea-mint,1,6.50,caf\xc3",
        b"BAD-018,customer\x00001,tea-mint,1,6.50,",
        b"BAD-019," + b"x" * 70 + b",tea-mint,1,6.50,",
        # Written twice: the same order again, and another one under a name that is taken.
        good[10].line().encode(),
        good[300].line().encode(),
        good[20].line(quantity="99").encode(),
        good[400].line(total="1.00").encode(),
        b"",
        b"   ",
        b",,,,,",
        b"",
    ]
    for mistake in mistakes:
        # What is written twice comes after the first time.
        earliest = 450 if mistake.startswith(b"WEB") else 1
        lines.insert(chance.randrange(earliest, len(lines)), mistake)
    return lines


def shelves(chance: random.Random, placed: list[Order]) -> list[tuple[str, int]]:
    """Enough of everything, except for three products."""
    asked: Counter[str] = Counter()
    for order in placed:
        asked[order.product] += order.quantity
    return [
        (product, asked[product] * 6 // 10 if product in SHORT else asked[product] + chance.randrange(20, 200))
        for product, _ in GOODS
    ]


def main() -> None:
    chance = random.Random(SEED)
    book, european = orders(chance, 1, ORDERS), orders(chance, 10_001, EUROPEAN)
    header = b"reference,customer,product,quantity,total,note"
    (HERE / "orders.csv").write_bytes(b"\n".join([header, *with_mistakes(chance, book), b""]))
    titles = "Reference;Customer;Product;Quantity;Total"
    text = "\r\n".join([titles, *(order.european() for order in european), ""])
    (HERE / "orders-eu.csv").write_bytes(text.encode("utf-8-sig"))
    stock = [f"{product},{available}" for product, available in shelves(chance, book + european)]
    (HERE / "stock.csv").write_text("\n".join(["product,available", *stock, ""]))


if __name__ == "__main__":
    main()
