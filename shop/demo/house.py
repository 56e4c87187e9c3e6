"""The simulated warehouse of the demo: a program of its own, whose shelves change by themselves as it is told."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from django.core.management.base import CommandError
from django.db import connection

from shop.children import Child, manage
from shop.environment import TOKEN, reaching

DRIFTING = "beans-"
"""Only shelves whose names begin like this change by themselves: all others prove that nothing is lost."""
DRIFT = 4
"""Changes a second."""
UP_WITHIN_S = 15.0

_ADDRESS = re.compile(r"listens at (http://\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A product whose figure is not what the shelf says."""

    product: str
    shelf: int
    kept: int
    available: int

    def __str__(self) -> str:
        return f"{self.product}: {self.shelf} on the shelf less {self.kept} kept, {self.available} in the shop"


def differences(shelves: Mapping[str, int]) -> list[Difference]:
    """The products whose copy in the shop is not the shelf's figure less what is kept for orders."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id, s.available, coalesce((SELECT sum(value::bigint) FROM jsonb_each_text(s.reserved)), 0)"
            "  FROM fulfilment_stock_stock s ORDER BY s.id"
        )
        copies = {product: (available, int(kept)) for product, available, kept in cursor.fetchall()}
    found = []
    for product, shelf in sorted(shelves.items()):
        available, kept = copies.get(product, (0, 0))
        if available != max(0, shelf - kept):
            found.append(Difference(product=product, shelf=shelf, kept=kept, available=available))
    return found


class House:
    """The warehouse while the demo runs."""

    def __init__(self, start: Callable[..., Child], stock: str, *, seed: int = 1) -> None:
        """`start(name, command, **environment)` makes a child; `stock` is the file of the first shelves, and the same
        `seed` changes them in the same way.

        Raises CommandError where it does not come up.
        """
        token = secrets.token_urlsafe(16)
        command = manage("warehouse", "--port", "0", "--seed", str(seed), "--shelves", stock, "--quiet")
        self.child = start("warehouse", command, **{TOKEN: token})
        try:
            self.address = self._wait()
        except BaseException:
            self.child.kill()
            raise
        self.environment = reaching(self.address, token)
        """For the processes that are to reach it."""

    def drift(self, rate: float) -> None:
        """Have shelves change by themselves, so many a second."""
        self.behave(drift=rate, drifting=DRIFTING)

    def behave(self, **faults: Any) -> None:
        """Set how it misbehaves from now on; see `shop.warehouse.faults.Settings`."""
        httpx.post(f"{self.address}/faults", json=faults, timeout=30).raise_for_status()

    def shelves(self) -> dict[str, int]:
        """What is on them now."""
        return dict(self.ledger()["shelves"])

    def moved(self) -> int:
        """How often a shelf changed by itself."""
        return sum(count for why, count in self.ledger()["movements"].items() if why != "set")

    def ledger(self) -> dict[str, Any]:
        """Everything that it holds, with how often it was asked and how often which fault was met."""
        reply = httpx.get(f"{self.address}/ledger", timeout=30)
        found: dict[str, Any] = reply.raise_for_status().json()
        return found

    def _wait(self) -> str:
        give_up = time.monotonic() + UP_WITHIN_S
        while not (found := _ADDRESS.search(self.child.last_words())):
            if self.child.is_over() or time.monotonic() > give_up:
                raise CommandError(f"The warehouse does not come up.\n{self.child.last_words()}")
            time.sleep(0.05)
        return found[1]
