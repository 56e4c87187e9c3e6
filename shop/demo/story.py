"""The demo as it goes: orders come in, some are paid, the others come due, and meanwhile things break."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from shop.children import Child, manage
from shop.demo.crew import Crew
from shop.demo.house import DRIFT, DRIFTING, Difference, differences
from shop.demo.paying import Customers
from shop.demo.screen import Screen
from shop.demo.watching import Standing, Watcher
from shop.demo.world import WINDOW_S, World

DATA = Path(settings.BASE_DIR) / "store" / "data"
STOCK = DATA / "stock.csv"
QUEUES = "toa,toa.calls,celery"
WORKERS = ("worker-1", "worker-2")
RATE = 20
"""Orders a second that each of the two large imports places."""
OVER_WITHIN_S = 45.0
"""From the first process to the last settled call."""
LOOK_S = 0.1
"""How often customers look whether their moment has come."""
SHOW_EVERY = 3
"""Looks between two of the screen."""
TELL_S = 1.5
"""How often it is said how far shop and warehouse are apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What happened outside the database."""

    placed: int
    """Orders that the imports say they placed."""
    shelves: Mapping[str, int]
    """What the warehouse has on its shelves."""


class Story:
    """Everything that the demo starts, and what it has seen."""

    def __init__(self, world: World, screen: Screen) -> None:
        self.customers = Customers(window_s=WINDOW_S)
        self._world = world
        self._screen = screen
        self._watcher = Watcher()
        self.crew = Crew(world)
        self._imports: list[Child] = []
        self._told = time.monotonic()
        # Each once so many orders have expired.
        self._mishaps = [(40, self._kill_a_worker), (120, self._empty_the_broker)]

    def tell(self) -> Told:
        """Let it happen until nothing is left to come; returns what the database does not know of it.

        Raises CommandError where it does not end in time, or a process dies that nobody killed.
        """
        give_up = time.monotonic() + OVER_WITHIN_S
        try:
            self._open()
            while not self._is_over():
                if time.monotonic() > give_up:
                    raise CommandError(
                        f"It did not come to rest within {OVER_WITHIN_S:g} s: {self._watcher.standing()}."
                    )
            if self._mishaps:
                raise CommandError(f"It came to rest before anything went wrong: {self._watcher.standing()}.")
            shelves = self._settle(give_up)
            return Told(placed=sum(self._placed(child) for child in self._imports), shelves=shelves)
        finally:
            self.crew.end(self._imports)

    def _is_over(self) -> bool:
        for _ in range(SHOW_EVERY):
            self.customers.pay()
            time.sleep(LOOK_S)
        standing = self._watcher.standing()
        self._screen.show(self._watcher.news(), standing)
        self.crew.check()
        self._look_at_the_shelves()
        if self._mishaps and standing.expired >= self._mishaps[0][0]:
            self._mishaps.pop(0)[1](standing)
        return standing.at_rest and all(child.is_over() for child in self._imports)

    def _look_at_the_shelves(self) -> None:
        """Now and then, say how far shop and warehouse are apart."""
        if time.monotonic() - self._told < TELL_S:
            return
        self._told = time.monotonic()
        apart = differences(self.crew.house.shelves())
        if apart:
            self._screen.say(f"Not what the warehouse has: {_figures(apart)}, such as {apart[0]}.")
        else:
            self._screen.say("Every figure is what the warehouse has.")

    def _settle(self, give_up: float) -> dict[str, int]:
        """Let the shelves come to rest, and wait for the figures to be set right; returns the shelves."""
        house = self.crew.house
        house.drift(0)
        apart = differences(house.shelves())
        self._screen.say(
            f"The shelves changed {house.moved()} times by themselves and come to rest;"
            f" {_figures(apart)} to be set right."
        )
        while apart and time.monotonic() < give_up:
            self.crew.check()
            self._screen.show(self._watcher.news(), self._watcher.standing())
            time.sleep(LOOK_S)
            apart = differences(house.shelves())
        self._screen.show(self._watcher.news(), self._watcher.standing())
        shelves = house.shelves()
        self._screen.say(f"{len(shelves) - len(apart)} of {len(shelves)} figures are what the warehouse has.")
        return shelves

    def _open(self) -> None:
        self.crew.start_house(str(STOCK))
        self.crew.start_beat()
        for name in WORKERS:
            self.crew.start_worker(name, QUEUES, 2)
        stock = self.crew.child("stock", manage("shop_import", "--stock", str(STOCK), "--json"))
        try:
            self._placed(stock)
        finally:
            stock.kill()
        self.crew.wait(len(WORKERS))
        self.crew.house.drift(DRIFT)
        self._screen.say(
            f"Beat and workers are up. Orders come in; each may be paid for {WINDOW_S} s. In the warehouse, a program"
            f" of its own, {DRIFT} shelves of {DRIFTING}* a second are counted, broken or found."
        )
        orders = str(DATA / "orders.csv")
        for number, expiry in enumerate(("sweep", "alarm", "process"), start=1):
            command = manage("shop_import", orders, "--part", f"{number}/3", "--rate", str(RATE), "--json")
            self._imports.append(self.crew.child(f"orders-{expiry}", command, TOA_SHOP_EXPIRY=expiry))
        self._imports.append(self.crew.child("orders-eu", manage("shop_import", str(DATA / "orders-eu.csv"), "--json")))

    def _kill_a_worker(self, standing: Standing) -> None:
        victim = self.crew.kill("worker-1")
        self._screen.say(
            f"SIGKILL to worker-1 (process {victim.pid}) while {standing.due} are due. Another one starts."
        )
        self.crew.start_worker("worker-3", QUEUES, 2)

    def _empty_the_broker(self, standing: Standing) -> None:
        keys = self._world.empty_broker()
        self._screen.say(f"The broker is emptied ({keys} keys) while {standing.due} are due.")

    def _placed(self, child: Child) -> int:
        """What an import says that it placed, at its end."""
        if child.end():
            raise CommandError(f"The import {child.name} failed.\n{child.last_words()}")
        summary = json.loads(child.last_words(1))
        sentence = f"{Path(summary['file']).name}: {summary['created']} placed, {summary['refused']} refused"
        self._screen.say(f"{sentence}; reasons are in {child.log}." if summary["refused"] else f"{sentence}.")
        created: int = summary["created"]
        return created


def _figures(apart: Sequence[Difference]) -> str:
    return "1 figure" if len(apart) == 1 else f"{len(apart)} figures"
