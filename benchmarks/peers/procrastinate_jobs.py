"""procrastinate: deferring empty jobs, working them off by two worker processes, and how late scheduled ones begin.

    python -m benchmarks peers.procrastinate_jobs

A job that is scheduled wakes nobody: the worker looks every five seconds unless it is told otherwise. So lateness is
measured with a look every 100 ms, which its users pay for while nothing is due.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import procrastinate
import psycopg

from benchmarks.databases import database
from benchmarks.harness import (
    CLIENTS,
    QUICK,
    RATES,
    Figure,
    at_once,
    forked,
    in_step,
    in_time,
    lateness,
    number_of,
    patiently,
    say,
    spread,
)
from benchmarks.peers.procrastinate_app import app_on, work

JOBS = 2_000 if QUICK else 10_000
ONE_BY_ONE = 300
WORKERS = 2
EACH = 100 if QUICK else 500
"""How many keyed jobs each client defers."""
LOOK_S = 0.1
DEFER_MS = 5
"""More than what deferring one job takes."""
MEASURED = RATES[:2]
"""Beyond these it makes fewer jobs a second than come due, and lateness grows for as long as it is measured."""

# By its own record: starting the workers, or the clients, is no part of it.
_RATE = """
SELECT (count(*) - 1) / extract(epoch FROM max(at) - min(at)) FROM procrastinate_events e
  JOIN procrastinate_jobs j ON j.id = e.job_id WHERE e.type = %s AND (j.queueing_lock IS NOT NULL) = %s
"""


def main() -> None:
    with database(), TemporaryDirectory() as folder:
        from django.db import connections

        from benchmarks.processes import environment

        address = environment()["DATABASE_URL"]
        connections.close_all()
        app = app_on(address)
        told = Path(folder) / "late"

        @app.task(name="nothing")
        async def nothing(number: int) -> None:
            """Does nothing."""

        @app.task(name="note")
        async def note(moment: int) -> None:
            """Tell how late it began, in ms."""
            with told.open("a", encoding="utf-8") as file:
                print(time.time() * 1000 - moment, file=file)

        with app.open():
            app.schema_manager.apply_schema()
            began = time.perf_counter()
            for number in range(ONE_BY_ONE):
                nothing.defer(number=number)
            _say("procrastinate: defer, one by one", ONE_BY_ONE, began)
            began = time.perf_counter()
            nothing.batch_defer(*({"number": number} for number in range(JOBS - ONE_BY_ONE)))
            _say("procrastinate: defer in bulk", JOBS - ONE_BY_ONE, began)
        at_once([partial(work, app, address, wait=False, listen_notify=False)] * WORKERS)
        _recorded("procrastinate: empty jobs, two workers", address, JOBS, "succeeded", False)
        # Before the keyed ones are deferred, which nobody works off.
        _lateness(app, address, note, told)

        def keyed(client: int, ready: Callable[[], object]) -> None:
            with app.open():
                app.check_connection()
                ready()
                for number in range(EACH):
                    nothing.configure(queueing_lock=f"{client}-{number}").defer(number=number)

        in_step(keyed)
        _recorded(f"procrastinate: keyed defer, {CLIENTS} clients", address, CLIENTS * EACH, "deferred", True)


def _lateness(app: procrastinate.App, address: str, note: procrastinate.tasks.Task, told: Path) -> None:  # type: ignore[type-arg]
    """Through one worker."""
    from benchmarks.processes import wait

    def late(rate: int, times: int) -> list[float]:
        """How late each began, where deferring one may take so many times as long."""
        told.write_text("", encoding="utf-8")
        moments = spread(int(time.time() * 1000) + times * (1_000 + number_of(rate) * DEFER_MS), rate)
        for moment in moments:
            at = datetime.fromtimestamp(moment / 1000, UTC)
            note.configure(schedule_at=at).defer(moment=moment)
        deferred = time.time() * 1000
        wait(lambda: len(_lines(told)) == len(moments))
        in_time(moments[0], deferred)
        return [float(line) for line in _lines(told)]

    with app.open():
        pid = forked(partial(work, app, address, fetch_job_polling_interval=LOOK_S))
        try:
            for rate in MEASURED:
                lateness("procrastinate", rate, patiently(partial(late, rate)))
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split()


def _recorded(name: str, address: str, number: int, event: str, keyed: bool) -> None:
    with psycopg.connect(address) as connection:
        found = connection.execute(_RATE, [event, keyed]).fetchone()
    assert found is not None
    say(Figure(name=name, value=float(found[0]), unit="/s", note=f"of {number:,}"))


def _say(name: str, number: int, began: float) -> None:
    say(Figure(name=name, value=number / (time.perf_counter() - began), unit="/s", note=f"of {number:,}"))


if __name__ == "__main__":
    main()
