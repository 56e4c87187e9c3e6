"""A long backlog through beat and two workers: another endpoint's three calls beside it, and memory over the drain.

python -m benchmarks backlog
"""

from __future__ import annotations

import statistics
import time

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, say

BACKLOG = 10_000 if QUICK else 100_000
ROWS = 5_000
ROUNDS = 2
"""Memory is compared within the last one: in the first one Python and the libraries load what they need."""
FLAT = 1.05

_DUE = """
UPDATE toa_delay SET due_at = date_trunc('milliseconds', now()), wake_at = date_trunc('milliseconds', now())
"""


def main() -> None:
    with database():
        from django.db import connection

        from benchmarks.load import GAUGES, METERS, arm, arm_now, subjects
        from benchmarks.processes import beat_and_workers, resident, running, wait
        from toa.models import Delay, History
        from toa.runtime import clock

        rows, others = subjects(METERS, ROWS), subjects(GAUGES, 3)
        with running(*beat_and_workers()) as children:
            arm_now(f"{METERS}.add", rows[:100])
            wait(lambda: not Delay.objects.exists(), children)
            late = []
            for _ in range(ROUNDS):
                History.objects.all().delete()
                # Far away until all are there, and then due at once.
                arm(f"{METERS}.add", [rows[n % ROWS] for n in range(BACKLOG)], [clock.clock().now() + 10**8] * BACKLOG)
                memory = [sum(resident(child.pid) for child in children)]
                with connection.cursor() as cursor:
                    cursor.execute(_DUE)
                wait(lambda: History.objects.exists(), children, every_s=0.01)
                arm_now(f"{GAUGES}.add", others)
                began = time.perf_counter()

                def drained() -> bool:
                    memory.append(sum(resident(child.pid) for child in children))  # noqa: B023
                    return not Delay.objects.exists()

                wait(drained, children)
                seconds = time.perf_counter() - began
                made = History.objects.filter(endpoint=f"{GAUGES}.add", source="delay")
                late = list(made.values_list("lateness_ms", flat=True))
                assert len(late) == 3
        note = f"the backlog took {seconds * 1000:,.0f} ms"
        name = f"an endpoint's three calls beside a backlog of {BACKLOG:,}, the last of them"
        say(Figure(name=name, value=max(late), unit="ms late", most=1_000, note=note))
        third = max(1, len(memory) // 3)
        start, middle, end = memory[0], statistics.median(memory[third:-third] or memory), memory[-1]
        for when, value in (("start", start), ("middle", middle), ("end", end)):
            label = f"memory of beat and workers over a drain of {BACKLOG:,}, {when}"
            say(Figure(name=label, value=value, unit="MB"))
        say(Figure(name="memory of beat and workers, end beside start", value=end / start, unit="x", most=FLAT))


if __name__ == "__main__":
    main()
