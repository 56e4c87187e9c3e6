"""What happens in a run, and when: the same for the same seed and number of orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

RATE = 25
"""Orders a second, all customers together."""
FEWEST_S = 4.0
"""How long orders come in, at least."""
PRODUCTS = 40
PAID = 0.75
"""This share of the orders is paid."""
GIVEN_UP = 0.12
"""This share of the paid orders is given up by the customer a moment later, if it is not packed by then."""
SHORT = 0.1
"""This share of the products has less on its shelf than the shop believes at first."""
ORDERS_FOR_A_KILL = 250
FEWEST_KILLS = 2
LARGE = 500
"""From so many orders on there are two workers for ticks and two for calls, else one and one."""
CLOSED_S = 3.0
"""How long the outside takes no request at all, in the middle of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """An order as its customer means it. Times are seconds from the beginning of the run."""

    reference: str
    customer: str
    product: str
    quantity: int
    total: str
    place_s: float
    pay_s: float | None
    give_up_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run."""

    orders: int
    seed: int
    wishes: Sequence[Wish]
    stock: Mapping[str, int]
    """What the shop believes to have at first."""
    shelves: Mapping[str, int]
    """What the warehouse has at first."""
    kills: Sequence[float]
    """When a worker is killed, in seconds."""
    closes_s: float
    """When the outside closes."""
    length_s: float
    """How long orders come in."""
    workers: int
    """For ticks, and as many for calls."""


def make_plan(orders: int, seed: int) -> Plan:
    """The run of so many orders with that seed."""
    luck = Random(f"{seed}:{orders}")
    length_s = max(FEWEST_S, orders / RATE)
    products = [f"product-{number:02}" for number in range(PRODUCTS)]
    wishes = [_wish(number, length_s * number / orders, products, luck) for number in range(orders)]
    # Three for an order on average, and a good part more than that.
    enough = 20 + 5 * orders // PRODUCTS
    stock = dict.fromkeys(products, enough)
    shelves = {product: 2 if luck.random() < SHORT else enough for product in products}
    kills = max(FEWEST_KILLS, orders // ORDERS_FOR_A_KILL)
    return Plan(
        orders=orders,
        seed=seed,
        wishes=wishes,
        stock=stock,
        shelves=shelves,
        kills=sorted(luck.uniform(0.1, 1.1) * length_s for _ in range(kills)),
        closes_s=length_s / 2,
        length_s=length_s,
        workers=2 if orders >= LARGE else 1,
    )


def _wish(number: int, place_s: float, products: Sequence[str], luck: Random) -> Wish:
    quantity = luck.randint(1, 5)
    pay_s = place_s + luck.uniform(0.2, 1.5) if luck.random() < PAID else None
    gives_up = pay_s is not None and luck.random() < GIVEN_UP
    return Wish(
        reference=f"C-{number:05}",
        customer=f"customer-{luck.randint(1, 200)}",
        product=luck.choice(products),
        quantity=quantity,
        total=f"{quantity * luck.randint(100, 5000) / 100:.2f}",
        place_s=place_s,
        pay_s=pay_s,
        give_up_s=pay_s + luck.uniform(0.0, 0.6) if pay_s is not None and gives_up else None,
    )
