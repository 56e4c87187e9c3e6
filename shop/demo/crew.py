"""The processes of a run in a world of its own: started, watched, killed and ended, with the warehouse they reach."""

from __future__ import annotations

import time
from collections.abc import Iterable

from django.core.management.base import CommandError

from shop.children import Child, beat, end_all, load, worker
from shop.demo.house import House
from shop.demo.world import World
from toa.cadence.processes import alive

UP_WITHIN_S = 30.0
"""How long beat and workers may take until they show a sign of life."""
LOOK_S = 0.1


class Crew:
    """Processes that none but `kill` may end before the run does."""

    def __init__(self, world: World) -> None:
        self.load = 1.0
        """How many processes wanted each core at the worst, 1 at least."""
        self._world = world
        self._crew: dict[str, Child] = {}
        self._house: House | None = None

    @property
    def house(self) -> House:
        """The warehouse."""
        assert self._house is not None
        return self._house

    def start_house(self, stock: str, *, seed: int = 1) -> None:
        """Start the warehouse; whoever is started later reaches it. See `House`."""
        self._house = House(self.child, stock, seed=seed)
        self._crew["warehouse"] = self._house.child

    def start_beat(self) -> None:
        self._crew["beat"] = self.child("beat", beat())

    def start_worker(self, name: str, queues: str, concurrency: int) -> None:
        self._crew[name] = self.child(name, worker(name, queues, concurrency))

    def child(self, name: str, command: list[str], **environment: str) -> Child:
        """Start a process that ends by itself: it is not watched, and ended by whoever started it."""
        reached = self._house.environment if self._house else {}
        log = self._world.logs / f"{name}.log"
        return Child(name, command, environment={**self._world.environment, **reached, **environment}, log=log)

    def kill(self, name: str) -> Child:
        """End one by SIGKILL."""
        victim = self._crew.pop(name)
        victim.kill()
        return victim

    def names(self) -> list[str]:
        """Who is there, in order of their names."""
        return sorted(self._crew)

    def check(self) -> None:
        """Note how busy the machine is. Raises CommandError where one is gone that nobody killed."""
        self.load = max(self.load, load())
        for child in self._crew.values():
            if child.is_over():
                raise CommandError(f"{child.name} died by itself.\n{child.last_words()}")

    def wait(self, workers: int) -> None:
        """Return when beat and so many workers have shown a sign of life. Raises CommandError where they do not."""
        give_up = time.monotonic() + UP_WITHIN_S
        while len(alive("worker")) < workers or not alive("beat"):
            self.check()
            if time.monotonic() > give_up:
                raise CommandError(f"Beat and workers gave no sign of life within {UP_WITHIN_S:g} s.")
            time.sleep(LOOK_S)

    def end(self, others: Iterable[Child] = ()) -> None:
        """End all of it, with others that this one started; none is left."""
        end_all([*others, *self._crew.values()])
