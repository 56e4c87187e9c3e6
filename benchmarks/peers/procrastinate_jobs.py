"""procrastinate: deferring empty jobs, one by one and in bulk, and working them off by two worker processes.

python -m benchmarks peers.procrastinate_jobs
"""

from __future__ import annotations

import time
from functools import partial

from benchmarks.harness import CLIENTS, QUICK, Figure, at_once, database, say
from benchmarks.peers.procrastinate_app import app_on, work

JOBS = 1_000 if QUICK else 5_000
ONE_BY_ONE = 300
WORKERS = 2
EACH = 50 if QUICK else 200
"""How many keyed jobs each client defers."""


def main() -> None:
    with database():
        from django.db import connections

        from benchmarks.processes import environment

        address = environment()["DATABASE_URL"]
        connections.close_all()
        app = app_on(address)

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
        at_once([partial(work, app, address, wait=False, listen_notify=False)] * WORKERS)
        say(_figure("procrastinate: empty jobs, two workers", JOBS, began))

        def keyed(client: int) -> None:
            with app.open():
                for number in range(EACH):
                    nothing.configure(queueing_lock=f"{client}-{number}").defer(number=number)

        began = time.perf_counter()
        at_once(partial(keyed, client) for client in range(CLIENTS))
        say(_figure(f"procrastinate: keyed defer, {CLIENTS} clients", CLIENTS * EACH, began))


def _figure(name: str, number: int, began: float) -> Figure:
    return Figure(name=name, value=number / (time.perf_counter() - began), unit="/s")


if __name__ == "__main__":
    main()
