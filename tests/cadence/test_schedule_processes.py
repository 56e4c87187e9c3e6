"""A schedule of each second and a pulse of each second, with two beats and two workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from shop.children import Child, beat, end_all, worker
from tests.cadence.calendar import EXACT, SECOND
from toa.cadence.syncing import sync
from toa.core.clock import to_moment
from toa.models import History, Pulse

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

PING = "components.beacons.ping"
WITHIN_S = 60.0
CALLS = 8


@pytest.fixture
def crew(process_environment: dict[str, str], tmp_path: Path, settings) -> Iterator[list[Child]]:
    settings.TOA = {**settings.TOA, "CADENCE": {EXACT: "* * * * * *", PING: {"cycle": 1, "intervals": 1}}}
    sync()
    Pulse.objects.exclude(endpoint=PING).update(wake_at=None)
    environment = {**process_environment, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    children: list[Child] = []
    try:
        for name, command in (
            ("beat", beat()),
            ("other-beat", beat()),
            ("ticks", worker("ticks", "toa", 1)),
            ("calls", worker("calls", "toa.calls", 3)),
        ):
            children.append(Child(name, command, environment=environment, log=tmp_path / f"{name}.log"))
        yield children
    finally:
        end_all(children)


def until(fact: Callable[[], bool], crew: list[Child]) -> None:
    give_up = time.monotonic() + WITHIN_S
    while not fact():
        for child in crew:
            assert not child.is_over(), child.last_words()
        assert time.monotonic() < give_up, "it did not happen in time"


def stretches(endpoint: str) -> list[tuple[int, int]]:
    """What each line of history accounts for: its first second, and the first one after it."""
    found = []
    for line in History.objects.filter(endpoint=endpoint, source__in=("schedule", "pulse")):
        assert line.at >= line.due_at, "never early"
        cause = line.cause or {}
        first = cause.get("at", to_moment(line.due_at))
        found.append((first, first + max(line.count, cause.get("missed", 1)) * SECOND))
    return sorted(found)


def gapless(endpoint: str) -> bool:
    """Whether each second was accounted for once. A call that runs has no line yet, so this may take another look."""
    found = stretches(endpoint)
    assert all(ends <= begins for (_, ends), (begins, _) in pairwise(found)), "none twice"
    return all(ends == begins for (_, ends), (begins, _) in pairwise(found))


@pytest.mark.parametrize("endpoint", [EXACT, PING], ids=["schedule", "pulse"])
def test_P6_and_S1_every_second_is_accounted_for_once(crew, endpoint):
    until(lambda: History.objects.filter(endpoint=endpoint, outcome="made").count() >= CALLS, crew)
    until(lambda: gapless(endpoint), crew)
