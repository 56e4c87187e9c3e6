"""Lateness of a thousand schedules, left alone and with one of them edited each second.

    python -m benchmarks.schedules

Each schedule is due once in ten minutes and calls an effect, through `toa run` in a process of its own: one or two
calls a second. An edit is a `toa sync` of a release in which one schedule is another. `QUICK=1` measures half as long.
"""

from __future__ import annotations

import os
import time

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, percentile, say

SCHEDULES = 1_000
SECONDS = 30 if QUICK else 60
ENDPOINT = "components.almanacs.exact"


def main() -> None:
    with database("tests.settings"):
        from benchmarks.processes import running, toa_run, wait
        from toa.models import History

        declare({})
        with running(*toa_run(), settings_module="tests.settings") as children:
            # A release is made on another machine: what it computes is to take no processor from here.
            os.nice(19)
            wait(lambda: History.objects.filter(source="schedule").exists(), children)
            alone, _ = measured(edited=False)
            edited, syncs = measured(edited=True)
    for name, late in (("left alone", alone), ("one edited each second, the others", edited)):
        for share in (0.5, 0.99, 1.0):
            figure = f"{SCHEDULES} schedules, {name}: lateness p{share * 100:g}"
            say(Figure(name=figure, value=percentile(late, share), unit="ms", note=f"{len(late)} calls"))
    say(Figure(name=f"a sync of {SCHEDULES} schedules, one edited", value=percentile(syncs, 0.5), unit="ms"))


def declare(edits: dict[int, int]) -> None:
    """Declare the schedules as a release would, by the settings, and sync; `edits` are other seconds for some."""
    from django.conf import settings

    from toa.cadence.syncing import sync

    entries = [
        {"name": f"s{number}", "schedule": f"{edits.get(number, number % 60)} {number // 60 % 10}-59/10 * * * *"}
        for number in range(SCHEDULES)
    ]
    settings.TOA = {**settings.TOA, "CADENCE": {ENDPOINT: entries}}
    sync()


def measured(*, edited: bool) -> tuple[list[int], list[float]]:
    """Lateness over a while, in ms, of the schedules that nobody edited; and how long the syncs took, in ms."""
    from toa.models import History, Schedule

    History.objects.all().delete()
    syncs: list[float] = []
    for second in range(SECONDS):
        began = time.perf_counter()
        if edited:
            declare({number: 59 - number % 60 for number in range(second + 1)})
            syncs.append((time.perf_counter() - began) * 1000)
        time.sleep(max(0.0, 1.0 - (time.perf_counter() - began)))
    touched = [f"s{number}" for number in range(SECONDS)] if edited else []
    ids = Schedule.objects.exclude(name__in=touched).values_list("id", flat=True)
    entities = {f"schedule:{identity.hex}" for identity in ids}
    lines = History.objects.filter(source="schedule", outcome="made").values_list("entity", "lateness_ms")
    return [lateness for entity, lateness in lines if entity in entities], syncs


if __name__ == "__main__":
    main()
