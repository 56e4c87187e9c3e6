"""What the outside holds: shelves, orders to pick, the courier's bookings, the provider's refunds.

Everything that changes is an entry, which is written to the journal before it is applied. Whoever asks again under the
same key gets what the first one got.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shop.warehouse.journal import Entry, Journal

RECENT = 100
"""Movements of shelves that are kept to be shown."""


class OtherRequest(Exception):
    """The key was used before, for another request."""


def wall_clock() -> int:
    """Now, epoch ms."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True, kw_only=True)
class Pick:
    """An order that the warehouse was told to pick."""

    order: str
    product: str
    quantity: int
    asked: int
    """Epoch ms."""
    picked: int | None = None
    """Epoch ms; null while it is queued: nobody came by yet, or the shelf has too little."""

    @property
    def status(self) -> str:
        return "queued" if self.picked is None else "picked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """A shelf that changed."""

    at: int
    product: str
    available: int
    why: str


class Ledger:
    """Shelves and orders, for any number of threads."""

    def __init__(
        self, *, journal: Journal | None = None, picking_ms: int = 0, now: Callable[[], int] = wall_clock
    ) -> None:
        """`picking_ms`: how long an order waits until somebody takes it from the shelf."""
        self._journal = journal or Journal(None)
        self._picking_ms = picking_ms
        self._now = now
        self._lock = threading.RLock()
        self._shelves: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._names: list[str] | None = None
        self._queue: dict[str, Pick] = {}
        self._picks: dict[str, Pick] = {}
        self._bookings: dict[str, dict[str, str]] = {}
        self._refunds: dict[str, dict[str, str]] = {}
        self._movements: deque[Movement] = deque(maxlen=RECENT)
        self._why: Counter[str] = Counter()
        for entry in self._journal.entries():
            self._apply(entry)

    def inventory(self, after: str, limit: int) -> dict[str, Any]:
        """A page of shelves, in the order of their products, with more about each than a customer may care for."""
        with self._lock:
            self._pick_what_is_due()
            names = self._sorted()
            first = bisect_right(names, after) if after else 0
            page = names[first : first + limit]
            items = [
                {"product": name, "available": self._shelves[name], "changed": self._changed[name]} for name in page
            ]
            return {"items": items, "next": page[-1] if first + limit < len(names) else None}

    def status(self, order: str) -> dict[str, str]:
        """What became of an order."""
        with self._lock:
            self._pick_what_is_due()
            pick = self._picks.get(order)
            return {"order": order, "status": pick.status if pick else "unknown"}

    def pick(self, order: str, product: str, quantity: int) -> dict[str, str]:
        """Have an order picked: once, however often it is asked for. Raises OtherRequest for another content."""
        with self._lock:
            known = self._picks.get(order)
            if known is None:
                self._write({"what": "order", "order": order, "product": product, "quantity": quantity})
            elif (known.product, known.quantity) != (product, quantity):
                raise OtherRequest(f"order {order} is about {known.quantity} of {known.product}")
            return self.status(order)

    def book(self, key: str, order: str) -> dict[str, str]:
        """Book a courier: one booking for each key. Raises OtherRequest."""
        with self._lock:
            known = self._bookings.get(key)
            if known is None:
                self._write({"what": "booking", "key": key, "order": order, "booking": f"C{len(self._bookings) + 1}"})
            elif known["order"] != order:
                raise OtherRequest(f"the key is of order {known['order']}")
            return {"booking": self._bookings[key]["booking"]}

    def refund(self, key: str, order: str, amount: str) -> dict[str, str]:
        """Pay an amount back: one refund for each key. Raises OtherRequest."""
        with self._lock:
            known = self._refunds.get(key)
            if known is None:
                entry = {"what": "refund", "key": key, "order": order, "amount": amount}
                self._write({**entry, "refund": f"R{len(self._refunds) + 1}"})
            elif (known["order"], known["amount"]) != (order, amount):
                raise OtherRequest(f"the key is of {known['amount']} for order {known['order']}")
            return {"refund": self._refunds[key]["refund"]}

    def set_shelves(self, shelves: Mapping[str, int | None], why: str = "set") -> None:
        """Put figures on shelves; null takes a shelf away. Queued orders are picked where there is enough now."""
        with self._lock:
            self._write({"what": "shelves", "shelves": dict(shelves), "why": why})
            self._pick_what_is_due()

    def move(self, product: str, by: int, why: str) -> None:
        """Change what is on a shelf, to nothing at least."""
        with self._lock:
            before = self._shelves.get(product, 0)
            if max(0, before + by) != before:
                self.set_shelves({product: max(0, before + by)}, why)

    def products(self) -> list[str]:
        """The products that have a shelf, in order."""
        with self._lock:
            return list(self._sorted())

    def whole(self) -> dict[str, Any]:
        """Everything, as JSON."""
        with self._lock:
            self._pick_what_is_due()
            return {
                "shelves": dict(self._shelves),
                "movements": dict(self._why),
                "recent": [asdict(movement) for movement in self._movements],
                "picks": {order: {**asdict(pick), "status": pick.status} for order, pick in self._picks.items()},
                "bookings": [{"key": key, **booking} for key, booking in self._bookings.items()],
                "refunds": [{"key": key, **refund} for key, refund in self._refunds.items()],
            }

    def close(self) -> None:
        """Let the journal's file go."""
        with self._lock:
            self._journal.close()

    def _write(self, entry: Entry) -> None:
        entry = {**entry, "at": self._now()}
        self._journal.write(entry)
        self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        match entry:
            case {"what": "shelves", "shelves": shelves, "why": why, "at": at}:
                for product, available in shelves.items():
                    self._put(product, available, why, at)
            case {"what": "order", "order": order, "product": product, "quantity": quantity, "at": at}:
                pick = Pick(order=order, product=product, quantity=quantity, asked=at)
                self._picks[order] = self._queue[order] = pick
            case {"what": "picked", "order": order, "at": at}:
                pick = self._queue.pop(order)
                pick.picked = at
                self._put(pick.product, self._shelves[pick.product] - pick.quantity, "picked", at)
            case {"what": "booking", "key": key, "order": order, "booking": booking}:
                self._bookings[key] = {"order": order, "booking": booking}
            case {"what": "refund", "key": key, "order": order, "amount": amount, "refund": refund}:
                self._refunds[key] = {"order": order, "amount": amount, "refund": refund}

    def _put(self, product: str, available: int | None, why: str, at: int) -> None:
        if available is None:
            if self._shelves.pop(product, None) is not None:
                self._names = None
            return
        if product not in self._shelves:
            self._names = None
        self._shelves[product] = available
        self._changed[product] = at
        self._why[why] += 1
        self._movements.append(Movement(at=at, product=product, available=available, why=why))

    def _pick_what_is_due(self) -> None:
        """First come, first served; an order that finds too little waits, and others of the shelf may go before."""
        ready = self._now() - self._picking_ms
        for pick in list(self._queue.values()):
            if pick.asked > ready:
                break
            if self._shelves.get(pick.product, 0) >= pick.quantity:
                self._write({"what": "picked", "order": pick.order})

    def _sorted(self) -> list[str]:
        if self._names is None:
            self._names = sorted(self._shelves)
        return self._names
