"""A run: processes, customers, an outside that misbehaves, kills; until everything has come to rest."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

import toa
from shop.chaos.customers import Seen
from shop.chaos.plan import CLOSED_S, Plan
from shop.chaos.windows import FAULTS
from shop.children import Child, manage
from shop.demo.crew import Crew
from shop.demo.house import differences
from shop.demo.world import World

QUEUES = {"ticks": ("toa,celery", 1), "calls": ("toa.calls", 3)}
"""Kind of worker -> its queues, and how many children it has: what hangs in one queue holds up nothing in the other."""
CUSTOMERS = 2
LOOK_S = 0.2
SAY_S = 5.0
"""How often it is said how far the run is."""
PATIENCE_S = 60.0
"""How long it may take to come to rest when the last customer is done, and so much for each order on top."""
PATIENCE_FOR_AN_ORDER_S = 0.05

_OPEN = """
SELECT count(*) FILTER (WHERE status = 'pending') AS unpaid, count(*) FILTER (WHERE status = 'approved') AS paid,
       (SELECT count(*) FROM fulfilment_courier_booking WHERE reference IS NULL) AS unbooked,
       (SELECT count(*) FROM store_payments_refund WHERE reference IS NULL) AS owed,
       (SELECT count(*) FROM toa_delay) + (SELECT count(*) FROM toa_delivery) AS calls
  FROM store_orders_order
"""


class Run:
    """Everything that a run starts, and what it has seen."""

    def __init__(self, plan: Plan, world: World, say: Callable[[str], None]) -> None:
        self.kills = 0
        self.ledger: dict[str, Any] = {}
        """What the outside held in the end."""
        self._plan = plan
        self._world = world
        self._say = say
        self._luck = Random(f"{plan.seed}:kills")
        self.crew = Crew(world)
        self._started = 0

    def go(self) -> Seen:
        """Let it happen until nothing is left to come; returns what the customers saw.

        Raises CommandError where it does not come to rest in time, or a process dies that nobody killed.
        """
        customers: list[Child] = []
        try:
            self._open()
            begins = time.time() + 1.0
            outs = [self._world.logs / f"customers-{part}.json" for part in range(CUSTOMERS)]
            for out in outs:
                out.unlink(missing_ok=True)
            customers = [self._customers(part, begins, outs[part]) for part in range(CUSTOMERS)]
            self._live_through(begins, customers)
            seen = Seen()
            for out in outs:
                seen += Seen(**json.loads(out.read_text(encoding="utf-8")))
            self._come_to_rest()
            self.ledger = self.crew.house.ledger()
            return seen
        finally:
            self.crew.end(customers)

    def _open(self) -> None:
        shelves = self._sheet("shelves", self._plan.shelves)
        self.crew.start_house(str(shelves), seed=self._plan.seed)
        self.crew.start_beat()
        for kind in QUEUES:
            for _ in range(self._plan.workers):
                self._start_worker(kind)
        for product, available in self._plan.stock.items():
            toa.call("fulfilment.stock.assign", {"available": available}, id=product, version=0)
        self.crew.wait(len(QUEUES) * self._plan.workers)
        self.crew.house.behave(**FAULTS)

    def _live_through(self, begins: float, customers: list[Child]) -> None:
        closes_s, opens_s = self._plan.closes_s, self._plan.closes_s + CLOSED_S
        blows: list[tuple[float, Callable[[], None]]] = [(at_s, self._kill_a_worker) for at_s in self._plan.kills]
        blows += [(closes_s, self._close_the_outside), (opens_s, self._open_the_outside)]
        blows.sort(key=lambda blow: blow[0])
        said = time.monotonic()
        while blows or not all(child.is_over() for child in customers):
            while blows and time.time() >= begins + blows[0][0]:
                blows.pop(0)[1]()
            self.crew.check()
            for child in customers:
                if child.is_over() and child.end():
                    raise CommandError(f"{child.name} failed.\n{child.last_words()}")
            if time.monotonic() - said >= SAY_S:
                said = time.monotonic()
                self._say(f"{time.time() - begins:.0f} s: {self._standing()}")
            time.sleep(LOOK_S)

    def _come_to_rest(self) -> None:
        self.crew.house.behave(drift=0)
        patience_s = (PATIENCE_S + PATIENCE_FOR_AN_ORDER_S * self._plan.orders) * self.crew.load
        self._say(f"The last customer is done, and shelves change no more. {self._standing()}")
        give_up, said = time.monotonic() + patience_s, time.monotonic()
        while any(self._open_ends().values()) or differences(self.crew.house.shelves()):
            self.crew.check()
            if time.monotonic() > give_up:
                apart = [str(one) for one in differences(self.crew.house.shelves())[:3]]
                raise CommandError(
                    f"It did not come to rest within {patience_s:.0f} s: {self._standing()}. {'; '.join(apart)}"
                )
            if time.monotonic() - said >= SAY_S:
                said = time.monotonic()
                self._say(self._standing())
            time.sleep(LOOK_S)

    def _open_ends(self) -> Mapping[str, int]:
        with connection.cursor() as cursor:
            cursor.execute(_OPEN)
            return dict(zip(("unpaid", "paid", "unbooked", "owed", "calls"), cursor.fetchone(), strict=True))

    def _standing(self) -> str:
        ends = self._open_ends()
        return (
            f"{ends['unpaid']} orders unpaid, {ends['paid']} paid and not packed, {ends['unbooked']} without a courier,"
            f" {ends['owed']} refunds owed, {ends['calls']} calls stored"
        )

    def _kill_a_worker(self) -> None:
        name = self._luck.choice([name for name in self.crew.names() if name.startswith(tuple(QUEUES))])
        self.crew.kill(name)
        self.kills += 1
        self._say(f"SIGKILL to the worker {name}; another one starts.")
        self._start_worker(name.partition("-")[0])

    def _close_the_outside(self) -> None:
        self.crew.house.behave(fail=1.0, hang=0.0, lie=0.0, lost=0.0)
        self._say(f"The outside takes no request for {CLOSED_S:g} s.")

    def _open_the_outside(self) -> None:
        self.crew.house.behave(**FAULTS)

    def _start_worker(self, kind: str) -> None:
        self._started += 1
        name = f"{kind}-{self._started}"
        self.crew.start_worker(name, *QUEUES[kind])

    def _customers(self, part: int, begins: float, out: Path) -> Child:
        plan = self._plan
        options = {"orders": plan.orders, "seed": plan.seed, "begins": begins, "part": part, "of": CUSTOMERS}
        arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        return self.crew.child(f"customers-{part}", manage("shop_customers", str(out), *arguments))

    def _sheet(self, name: str, figures: Mapping[str, int]) -> Path:
        path = self._world.logs / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("product", "available"))
            writer.writerows(figures.items())
        return path
