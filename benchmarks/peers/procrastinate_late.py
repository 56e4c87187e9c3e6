"""procrastinate: how late empty jobs begin that are scheduled at several rates, through one worker as it comes.

    python -m benchmarks peers.procrastinate_late

A job that is scheduled wakes nobody: the worker looks every five seconds unless it is told otherwise. So it is measured
with a look every 100 ms, which its users pay for while nothing is due.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import RATES, SECONDS, database, forked, in_time, lateness, spread
from benchmarks.peers.procrastinate_app import app_on, work

LOOK_S = 0.1
DEFER_MS = 3
"""More than what deferring one job takes."""
MEASURED = RATES[:2]
"""Beyond these it makes fewer jobs a second than come due, and lateness grows for as long as it is measured."""


def main() -> None:
    with database(), TemporaryDirectory() as folder:
        from django.db import connections

        from benchmarks.processes import environment, wait

        address = environment()["DATABASE_URL"]
        connections.close_all()
        app = app_on(address)
        told = Path(folder) / "late"
        told.touch()

        @app.task(name="note")
        async def note(moment: int) -> None:
            """Tell how late it began, in ms."""
            with told.open("a", encoding="utf-8") as file:
                print(time.time() * 1000 - moment, file=file)

        with app.open():
            app.schema_manager.apply_schema()
            pid = forked(partial(work, app, address, fetch_job_polling_interval=LOOK_S))
            try:
                for rate in MEASURED:
                    told.write_text("", encoding="utf-8")
                    moments = spread(int(time.time() * 1000) + 1_500 + rate * SECONDS * DEFER_MS, rate, SECONDS)
                    jobs = [
                        note.configure(schedule_at=datetime.fromtimestamp(moment / 1000, UTC)).defer
                        for moment in moments
                    ]
                    for defer, moment in zip(jobs, moments, strict=True):
                        defer(moment=moment)
                    in_time(moments[0])
                    wait(lambda: len(_lines(told)) == len(moments))  # noqa: B023
                    lateness("procrastinate", rate, [float(line) for line in _lines(told)])
            finally:
                os.kill(pid, 9)
                os.waitpid(pid, 0)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split()


if __name__ == "__main__":
    main()
