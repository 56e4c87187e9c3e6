"""Shelves that change behind the shop's back: counted, broken, found."""

from __future__ import annotations

import threading
from random import Random

from shop.warehouse.ledger import Ledger

_KINDS = {"broken": (-3, -1), "found": (1, 3), "counted": (-5, 5)}


class Drift(threading.Thread):
    """Changes one shelf after another, the same ones for the same seed, until it is told to stop."""

    def __init__(self, ledger: Ledger, *, seed: int, rate: float) -> None:
        """`rate`: changes a second, more than 0."""
        super().__init__(name="warehouse-drift", daemon=True)
        self._ledger = ledger
        self._luck = Random(f"{seed}:drift")
        self._pause_s = 1 / rate
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(self._pause_s):
            self.change_one()

    def change_one(self) -> None:
        """Change a shelf, if there is one."""
        products = self._ledger.products()
        if not products:
            return
        why = self._luck.choice(sorted(_KINDS))
        product = products[self._luck.randrange(len(products))]
        self._ledger.move(product, self._luck.randint(*_KINDS[why]), why)

    def stop(self) -> None:
        """Change nothing from now on."""
        self._over.set()
        self.join()
