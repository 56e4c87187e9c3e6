from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

import toa
from tests.components.voyages.models import Voyage
from tests.components.voyages.operations import hail, sail
from toa.core.duration import parse_duration
from toa.models import EndedRun, Run
from toa.workflow import guarding

SAIL = "components.voyages.sail"
HAIL = "components.voyages.hail"
GO = "components.voyages.go"
OBSERVE = "components.voyages.observe"


class Voyages:
    """Writes workflows, starts them, and tells what became of them."""

    def __init__(self, clock: Any) -> None:
        for one in (hail.CALLS, hail.FAILURES, sail.SCRIPTS):
            one.clear()
        self.clock = clock
        self.hailed = hail.CALLS
        self.failures = hail.FAILURES

    def script(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates an async function: a run is started by its name."""
        sail.SCRIPTS[function.__name__] = function
        return function

    def start(self, function: Callable[..., Any], key: str | None = None, **input: Any) -> str:
        self.script(function)
        return toa.start(SAIL, {"script": function.__name__, **input}, key)

    def run(self, function: Callable[..., Any], **input: Any) -> str:
        identity = self.start(function, **input)
        self.clock.run_until_idle()
        return identity

    def after(self, duration: int | str) -> None:
        """Nothing runs for that time, and then everything does."""
        self.clock.set(self.clock.now + parse_duration(duration))
        self.clock.run_until_idle()

    def create(self) -> str:
        return toa.call("components.voyages.create")["id"]

    def miles(self, voyage: str) -> int:
        return Voyage.objects.get(id=UUID(voyage)).miles

    def log(self, voyage: str) -> list[Any]:
        return Voyage.objects.get(id=UUID(voyage)).log or []

    def ended(self, identity: str) -> EndedRun:
        return EndedRun.objects.get(id=UUID(identity))

    def row(self, identity: str) -> Run:
        return Run.objects.get(id=UUID(identity))


@pytest.fixture(params=["in_sets", "alone"])
def voyages(toa_clock, request, settings, monkeypatch):
    """Everything that holds of a run holds however it is gone on with."""
    settings.TOA = {**settings.TOA, "SETWISE": request.param == "in_sets"}
    monkeypatch.setattr(guarding, "LEAST", 1)
    return Voyages(toa_clock)
