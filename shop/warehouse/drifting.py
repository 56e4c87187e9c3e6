"""Shelves that change behind the shop's back: counted, broken, found."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random

from shop.warehouse.faults import Settings
from shop.warehouse.ledger import Ledger

LOOK_S = 0.1
"""How often it is looked whether shelves are to change now, while they are not."""

_KINDS = {"broken": (-3, -1), "found": (1, 3), "counted": (-5, 5)}


class Drift(threading.Thread):
    """Changes one shelf after another, the same ones for the same seed, as often as the settings say at the time."""

    def __init__(self, ledger: Ledger, *, seed: int, settings: Callable[[], Settings]) -> None:
        super().__init__(name="warehouse-drift", daemon=True)
        self._ledger = ledger
        self._luck = Random(f"{seed}:drift")
        self._settings = settings
        self._over = threading.Event()

    def run(self) -> None:
        wait_s = LOOK_S
        while not self._over.wait(wait_s):
            rate = self._settings().drift
            if rate > 0:
                self.change_one()
            wait_s = 1 / rate if rate > 0 else LOOK_S

    def change_one(self) -> None:
        """Change a shelf, if there is one that may change."""
        prefix = self._settings().drifting
        products = [product for product in self._ledger.products() if product.startswith(prefix)]
        if not products:
            return
        why = self._luck.choice(sorted(_KINDS))
        product = products[self._luck.randrange(len(products))]
        self._ledger.move(product, self._luck.randint(*_KINDS[why]), why)

    def stop(self) -> None:
        """Change nothing from now on."""
        self._over.set()
        if self.is_alive():
            self.join()
