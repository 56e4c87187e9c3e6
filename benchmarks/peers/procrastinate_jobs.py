"""procrastinate: deferring empty jobs, one by one and in bulk, and working them off by two worker processes.

python -m benchmarks peers.procrastinate_jobs
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

import procrastinate

from benchmarks.harness import CLIENTS, QUICK, Figure, database, say

JOBS = 1_000 if QUICK else 5_000
ONE_BY_ONE = 300
WORKERS = 2
SIDE_BY_SIDE = 10
EACH = 50 if QUICK else 200
"""How many keyed jobs each client defers."""


def main() -> None:
    with database():
        from django.db import connections

        from benchmarks.processes import environment

        address = environment()["DATABASE_URL"]
        connections.close_all()
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=address))

        @app.task(name="nothing")
        async def nothing(number: int) -> None:
            """Does nothing."""

        with app.open():
            app.schema_manager.apply_schema()
            began = time.perf_counter()
            for number in range(ONE_BY_ONE):
                nothing.defer(number=number)
            say(_figure("procrastinate: defer, one by one", ONE_BY_ONE, began))
            began = time.perf_counter()
            nothing.batch_defer(*({"number": number} for number in range(JOBS - ONE_BY_ONE)))
            say(_figure("procrastinate: defer in bulk", JOBS - ONE_BY_ONE, began))
        began = time.perf_counter()
        _side_by_side(WORKERS, lambda number: asyncio.run(_work(app, address)))
        say(_figure("procrastinate: empty jobs, two workers", JOBS, began))

        def keyed(client: int) -> None:
            with app.open():
                for number in range(EACH):
                    nothing.configure(queueing_lock=f"{client}-{number}").defer(number=number)

        began = time.perf_counter()
        _side_by_side(CLIENTS, keyed)
        say(_figure(f"procrastinate: keyed defer, {CLIENTS} clients", CLIENTS * EACH, began))


def _side_by_side(number: int, act: Callable[[int], object]) -> None:
    """In so many processes at once; each is told its number."""
    children = []
    for one in range(number):
        pid = os.fork()
        if pid == 0:
            act(one)
            os._exit(0)
        children.append(pid)
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0


async def _work(app: procrastinate.App, address: str) -> None:
    worker = app.with_connector(procrastinate.PsycopgConnector(conninfo=address))
    async with worker.open_async():
        await worker.run_worker_async(
            wait=False, concurrency=SIDE_BY_SIDE, install_signal_handlers=False, listen_notify=False
        )


def _figure(name: str, number: int, began: float) -> Figure:
    return Figure(name=name, value=number / (time.perf_counter() - began), unit="/s")


if __name__ == "__main__":
    main()
