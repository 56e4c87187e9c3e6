"""People's calls on the very rows that are being fired: how long eight clients wait while a backlog is drained.

python -m benchmarks users
"""

from __future__ import annotations

import os
import random
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, forked, in_time, percentile, say

BACKLOG = 10_000 if QUICK else 100_000
ROWS = 2_000
"""Few, so that each is fired several times and a client often meets one that is locked."""
PEOPLE = 8
AHEAD_MS = 2_500 if QUICK else 15_000

_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


def main() -> None:
    with database():
        from django.db import connection, connections

        from benchmarks.load import METERS, arm, subjects
        from benchmarks.processes import beat_and_workers, running, wait
        from toa.models import Delay
        from toa.runtime import clock

        rows = subjects(METERS, ROWS)
        endpoint = f"{METERS}.add"
        with running(*beat_and_workers()) as children, TemporaryDirectory() as folder:
            arm(endpoint, rows[:100], [clock.clock().now()] * 100)
            wait(lambda: not Delay.objects.exists(), children)
            moment = clock.clock().now() + AHEAD_MS
            arm(endpoint, [rows[number % ROWS] for number in range(BACKLOG)], [moment] * BACKLOG)
            in_time(moment, clock.clock().now())
            connections.close_all()
            people = [
                partial(_call_on, random.Random(number), rows, moment, Path(folder) / f"{number}")
                for number in range(PEOPLE)
            ]
            pids = [forked(person) for person in people]
            wait(lambda: clock.clock().now() >= moment and not Delay.objects.exists(), children)
            for number in range(PEOPLE):
                (Path(folder) / f"{number}.over").touch()
            failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in pids)
            waits = [
                float(line) for number in range(PEOPLE) for line in (Path(folder) / f"{number}").read_text().split()
            ]
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute(_DEADLOCKS)
            deadlocks = cursor.fetchone()[0]
        what = f"transitions of {PEOPLE} clients on rows being fired"
        note = f"{len(waits):,} calls beside {BACKLOG:,} that came due"
        say(Figure(name=f"{what}, p50", value=percentile(waits, 0.5), unit="ms", note=note))
        say(Figure(name=f"{what}, p99", value=percentile(waits, 0.99), unit="ms", most=200))
        say(Figure(name=f"{what}: deadlocks", value=deadlocks, unit="", most=0))
        say(Figure(name=f"{what}: clients that met an error", value=failed, unit="", most=0))


def _call_on(chance: random.Random, rows: list[str], moment: int, told: Path) -> None:
    """Call without a rest from the moment on; each wait is a line of a file."""
    import toa
    from benchmarks.load import METERS

    over = told.with_suffix(".over")
    toa.call(f"{METERS}.add", {"by": 1}, id=rows[0])
    time.sleep(max(0.0, moment / 1000 - time.time()))
    with told.open("w", encoding="utf-8") as file:
        while not over.exists():
            began = time.perf_counter()
            toa.call(f"{METERS}.add", {"by": 1}, id=chance.choice(rows))
            print((time.perf_counter() - began) * 1000, file=file)


if __name__ == "__main__":
    main()
