"""A worker that is killed, or frozen, while another one lives: how long until its work is done.

python -m benchmarks deaths
"""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, repeated, say
from shop.children import Child

DUE = 5_000
LEASE_MS = 2_000
"""What the errand of the benchmark declares."""
WORKERS = ("one", "two", "three")
ROUNDS = 1 if QUICK else 5
CATCHES = 5 if QUICK else 20
"""How often a worker is stopped, to find it with a transaction open."""

_OPEN = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND state = 'idle in transaction' AND xact_start < now() - interval '1 s'
"""


def main() -> None:
    with database(), TemporaryDirectory() as folder:
        from django.db import connection

        import toa
        from benchmarks.load import METERS, arm_now, subjects
        from benchmarks.processes import one_worker, running, wait
        from shop.children import beat
        from toa.models import Delay, History

        rows = subjects(METERS, DUE)
        endpoint = f"{METERS}.add"

        def gone() -> bool:
            return not Delay.objects.exists()

        def fired() -> bool:
            return History.objects.filter(endpoint=endpoint).exists()

        def begin(children: list[Child]) -> None:
            """Have them at work on what has come due."""
            History.objects.all().delete()
            arm_now(endpoint, rows)
            wait(fired, children, every_s=0.005)

        def since(act: Callable[[], object], living: list[Child], done: Callable[[], bool]) -> float:
            began = time.perf_counter()
            act()
            wait(done, living, every_s=0.01)
            return (time.perf_counter() - began) * 1000

        with running(beat(), *map(one_worker, WORKERS)) as (ticking, *workers):
            children = [ticking, *workers]
            arm_now(endpoint, rows[:100])
            # A worker has its place in the table a moment before it takes from the queue.
            wait(lambda: gone() and all(" ready." in worker.last_words(50) for worker in workers), children)

            begun = Path(folder) / "begun"
            toa.send("components.errands.run", {"input": {"path": str(begun)}})
            wait(lambda: begun.exists() and begun.read_text().endswith("\n"), children)
            first = next(worker for worker in workers if worker.pid == int(begun.read_text()))
            second, third = (worker for worker in workers if worker is not first)
            living = [ticking, second, third]
            undone = Delay.objects.filter(endpoint="components.errands.run")
            effect = since(first.kill, living, lambda: not undone.exists())
            _say("an effect of a killed worker is made again", effect, LEASE_MS + 1_000, "a lease of 2 s")

            whole = statistics.median(repeated(lambda: since(lambda: begin(living), living, gone), ROUNDS))
            frozen = _freeze(second, [ticking, third], begin, gone, connection)
            if frozen is not None:
                _say("what a frozen worker holds is made", frozen, 16_000, "a transaction was open")
            begin(living)
            wait(lambda: _in_hand(second), living, every_s=0.001)
            killed = since(second.kill, [ticking, third], gone)
            note = f"{DUE:,} due; without a death two workers take {whole:,.0f} ms"
            _say("transitions after a worker is killed, all made", killed, 1_000 + whole, note)


def _in_hand(worker: Child) -> bool:
    """Whether a process of this worker is about to fire calls; or none are left, where the other one was faster."""
    from toa.models import Delay, Process

    pids = Process.objects.filter(kind="pass").exclude(running=[]).values_list("pid", flat=True)
    for pid in pids:
        with suppress(ProcessLookupError):
            if os.getpgid(pid) == worker.pid:
                return True
    return not Delay.objects.exists()


def _freeze(worker, living, begin, gone, connection) -> float | None:  # type: ignore[no-untyped-def]
    """Stop it in the middle of a transaction; null where it was never found in one."""
    from benchmarks.processes import wait

    for _ in range(CATCHES):
        begin([worker, *living])
        began = time.perf_counter()
        os.killpg(worker.pid, signal.SIGSTOP)
        try:
            # Those of the living ones are shorter than that.
            time.sleep(1.2)
            with connection.cursor() as cursor:
                cursor.execute(_OPEN)
                caught = cursor.fetchone()[0] > 0
            if caught:
                wait(gone, living)
                return (time.perf_counter() - began) * 1000
        finally:
            os.killpg(worker.pid, signal.SIGCONT)
        wait(gone, living)
    return None


def _say(name: str, value: float, most: float, note: str) -> None:
    say(Figure(name=name, value=value, unit="ms", most=most, note=note))


if __name__ == "__main__":
    main()
