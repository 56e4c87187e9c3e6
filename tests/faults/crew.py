"""Real beats and workers beside a test, and what is done to them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from shop.children import Child, beat, worker

WITHIN_S = 45.0


class Crew:
    """Processes of the project on the settings for tests. Any of them may be killed, frozen and replaced."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = {**environment, "DJANGO_SETTINGS_MODULE": "tests.process_settings"}
        self._folder = folder
        self._children: list[Child] = []

    def beat(self) -> Child:
        return self._start("beat", beat())

    def worker(self) -> Child:
        return self._start("worker", worker(f"w{len(self._children)}", "toa,toa.calls,celery", 2))

    def freeze(self, child: Child) -> None:
        os.killpg(child.pid, signal.SIGSTOP)

    def wake(self, child: Child) -> None:
        os.killpg(child.pid, signal.SIGCONT)

    def end(self) -> None:
        for child in self._children:
            child.kill()

    def last_words(self) -> str:
        return "\n".join(f"-- {child.log.name}\n{child.last_words(20)}" for child in self._children)

    def _start(self, name: str, command: Sequence[str]) -> Child:
        number = len(self._children)
        log = self._folder / f"{name}-{number}.log"
        self._children.append(Child(name, command, environment=self._environment, log=log))
        return self._children[-1]


def wait_for(fact: Callable[[], bool], crew: Crew, what: str = "it") -> float:
    """Return once it is so, with how long that took in seconds; fail with the processes' last words after a while."""
    began = time.monotonic()
    while not fact():
        assert time.monotonic() - began < WITHIN_S, f"{what} did not happen in time\n{crew.last_words()}"
        time.sleep(0.02)
    return time.monotonic() - began
