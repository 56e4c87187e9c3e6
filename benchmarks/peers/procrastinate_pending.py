"""procrastinate: what fetching one job costs with little and with much pending, each of it scheduled for tomorrow.

python -m benchmarks peers.procrastinate_pending
"""

from __future__ import annotations

import time

import procrastinate
import psycopg

from benchmarks.databases import database
from benchmarks.harness import QUICK, STEPS, Figure, percentile, say

FETCHES = 5 if QUICK else 10

_PENDING = """
INSERT INTO procrastinate_jobs (queue_name, task_name, status, scheduled_at)
SELECT 'default', 'nothing', 'todo', now() + interval '1 day' + n * interval '1 ms' FROM generate_series(1, %s) AS n
"""
_DUE = """
INSERT INTO procrastinate_jobs (queue_name, task_name, status) SELECT 'default', 'nothing', 'todo'
  FROM generate_series(1, %s)
"""
_FETCH = "SELECT id FROM procrastinate_fetch_job_v2(NULL, %s)"


def main() -> None:
    with database():
        from benchmarks.processes import environment

        address = environment()["DATABASE_URL"]
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=address))
        with app.open():
            app.schema_manager.apply_schema()
        with psycopg.connect(address, autocommit=True) as connection:
            made = connection.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id").fetchone()
            assert made is not None
            before = 0
            for number in STEPS:
                # What it writes beside a job is no part of a fetch; it would fill the disk for nothing.
                connection.execute("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER")
                connection.execute(_PENDING, [number - before])
                before = number
                connection.execute(_DUE, [FETCHES + 1])
                connection.execute("ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER")
                connection.execute("VACUUM ANALYZE procrastinate_jobs")
                fetches = []
                for _ in range(FETCHES + 1):
                    began = time.perf_counter()
                    fetched = connection.execute(_FETCH, [made[0]]).fetchone()
                    fetches.append((time.perf_counter() - began) * 1000)
                    assert fetched is not None
                    assert fetched[0] is not None
                say(
                    Figure(
                        name=f"procrastinate: fetch of one job, {number:,} pending",
                        value=percentile(fetches[1:], 0.5),
                        unit="ms",
                        plot="pending",
                        line="procrastinate, 1 job",
                        x=number,
                    )
                )


if __name__ == "__main__":
    main()
