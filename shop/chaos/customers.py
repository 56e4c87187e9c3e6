"""The customers of a run: they place, pay and give up orders, and notice how long each answer took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import toa
from shop.chaos.plan import Wish


@dataclass(slots=True, kw_only=True)
class Seen:
    """What the customers were answered. JSON-ready."""

    placed: int = 0
    paid: dict[str, int] = field(default_factory=dict)
    """Order -> the moment (epoch ms) at which its payment had been taken."""
    too_late: int = 0
    """Payments that were refused."""
    waits_ms: dict[str, list[float]] = field(default_factory=dict)
    """What was asked -> how long each answer took."""

    def __iadd__(self, other: Seen) -> Seen:
        self.placed += other.placed
        self.paid |= other.paid
        self.too_late += other.too_late
        for what, waits in other.waits_ms.items():
            self.waits_ms.setdefault(what, []).extend(waits)
        return self

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def shop(wishes: Iterable[Wish], begins: float) -> Seen:
    """Do what the wishes say, each at its time; `begins` is the beginning of the run, in seconds of the wall clock."""
    seen = Seen()
    customers = _Customers(seen)
    for due_s, act in _in_order(wishes, customers):
        time.sleep(max(0.0, begins + due_s - time.time()))
        act()
    return seen


class _Customers:
    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._ids: dict[str, str] = {}

    def place(self, wish: Wish) -> None:
        goods = {
            "reference": wish.reference,
            "customer": wish.customer,
            "product": wish.product,
            "quantity": wish.quantity,
            "total": wish.total,
        }
        reply = self._timed("place", "store.orders.create", goods, once=wish.reference, check=True)
        self._ids[wish.reference] = reply.id
        self._seen.placed += 1

    def pay(self, wish: Wish) -> None:
        identity = self._ids[wish.reference]
        if isinstance(self._timed("pay", "store.orders.approve", id=identity), toa.Error):
            self._seen.too_late += 1
        else:
            self._seen.paid[identity] = time.time_ns() // 1_000_000

    def give_up(self, wish: Wish) -> None:
        self._timed("give up", "store.orders.cancel", {"reason": "CUSTOMER"}, id=self._ids[wish.reference])

    def look(self, wish: Wish) -> None:
        self._timed("look", "store.orders.observe", id=self._ids[wish.reference])

    def _timed(self, what: str, endpoint: str, *arguments: Any, **words: Any) -> Any:
        began = time.perf_counter()
        reply = toa.call(endpoint, *arguments, **words)
        self._seen.waits_ms.setdefault(what, []).append((time.perf_counter() - began) * 1000)
        return reply


def _in_order(wishes: Iterable[Wish], customers: _Customers) -> Iterator[tuple[float, Callable[[], None]]]:
    """Everything that customers do, by its time: who placed an order looks at it once more at the end."""
    acts: list[tuple[float, int, str, Wish]] = []
    for number, wish in enumerate(wishes):
        moments = {"place": wish.place_s, "pay": wish.pay_s, "give_up": wish.give_up_s}
        last = max(moment for moment in moments.values() if moment is not None)
        # Ranked, so that of two at one moment the earlier step goes first.
        steps = [*moments.items(), ("look", last + 0.1)]
        acts += [(at, 4 * number + rank, name, wish) for rank, (name, at) in enumerate(steps) if at is not None]
    for at, _, name, wish in sorted(acts):
        yield at, lambda name=name, wish=wish: getattr(customers, name)(wish)  # type: ignore[misc]
