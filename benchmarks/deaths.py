"""A worker that is killed, or frozen, while another one lives: how long until its work is done.

python -m benchmarks deaths
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import QUICK, Figure, database, say
from shop.children import Child

DUE = 5_000
LEASE_MS = 2_000
"""What the errand of the benchmark declares."""
CATCHES = 5 if QUICK else 20
"""How often a worker is stopped, to find it with a transaction open."""

_OPEN = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND state = 'idle in transaction' AND xact_start < now() - interval '50 ms'
"""


def main() -> None:
    with database(), TemporaryDirectory() as folder:
        from django.db import connection

        import toa
        from benchmarks.load import METERS, arm_now, subjects
        from benchmarks.processes import one_worker, running, wait
        from shop.children import beat
        from toa.models import Delay, History, Process

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

        with running(beat(), one_worker("first")) as children:
            arm_now(endpoint, rows[:100])
            wait(gone, children)
            first = children[1]
            toa.send("components.errands.run", {"input": {"path": str(Path(folder) / "begun")}})
            wait(lambda: (Path(folder) / "begun").exists(), children)
            with running(one_worker("second")) as (second,):
                wait(lambda: Process.objects.filter(kind="worker").count() >= 2, [*children, second])
                living = [children[0], second]
                # A worker has its place in the table a moment before it takes from the queue.
                wait(lambda: " ready." in second.last_words(50), [*children, second])
                undone = Delay.objects.filter(endpoint="components.errands.run")
                effect = since(first.kill, living, lambda: not undone.exists())
                _say("an effect of a killed worker is made again", effect, LEASE_MS + 1_000, "a lease of 2 s")
        with running(beat(), one_worker("first"), one_worker("second")) as children:
            arm_now(endpoint, rows[:100])
            wait(lambda: gone() and Process.objects.filter(kind="worker").count() >= 2, children)
            began_whole = time.perf_counter()
            begin(children)
            wait(gone, children)
            whole = (time.perf_counter() - began_whole) * 1000
            note = f"{DUE:,} due; without a death they take {whole:,.0f} ms"
            if not QUICK:
                frozen = _freeze(children, begin, gone, since, connection)
                if frozen is not None:
                    _say("what a frozen worker holds is made", frozen, 16_000, "a transaction was open")
            begin(children)
            wait(lambda: _in_hand(children[1]), children, every_s=0.001)
            killed = since(children[1].kill, [children[0], children[2]], gone)
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


def _freeze(children, begin, gone, since, connection) -> float | None:  # type: ignore[no-untyped-def]
    """Stop the first worker in the middle of a transaction; null where it was never found in one."""
    from benchmarks.processes import wait

    group = os.getpgid(children[1].pid)
    for _ in range(CATCHES):
        begin(children)
        os.killpg(group, signal.SIGSTOP)
        try:
            time.sleep(0.2)
            with connection.cursor() as cursor:
                cursor.execute(_OPEN)
                caught = cursor.fetchone()[0] > 0
            if caught:
                return float(since(lambda: None, [children[0], children[2]], gone))
        finally:
            os.killpg(group, signal.SIGCONT)
        wait(gone, children)
    return None


def _say(name: str, value: float, most: float, note: str) -> None:
    say(Figure(name=name, value=value, unit="ms", most=most, note=note))


if __name__ == "__main__":
    main()
