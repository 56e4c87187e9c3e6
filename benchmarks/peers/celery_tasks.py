"""Celery: empty tasks through two prefork children. Nothing is stored, and nothing is exactly once.

python -m benchmarks peers.celery_tasks
"""

from __future__ import annotations

import os
import time

from celery import Celery

from benchmarks.harness import QUICK, Figure, database, say
from config import servers

TASKS = 2_000 if QUICK else 10_000
QUEUE = "bench"

app = Celery("bench", broker=servers.broker_url())
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=4,
    broker_transport_options={"global_keyprefix": os.environ.get("BROKER_PREFIX", "")},
    task_default_queue=QUEUE,
    broker_connection_retry_on_startup=True,
)


@app.task(name="bench.nothing")
def nothing() -> None:
    """Does nothing."""


def main() -> None:
    with database():
        import redis

        from benchmarks.processes import environment, running, wait

        prefix = environment()["BROKER_PREFIX"]
        app.conf.broker_transport_options = {"global_keyprefix": prefix}
        for _ in range(TASKS):
            nothing.delay()
        command = [
            "-m",
            "celery",
            "-A",
            "benchmarks.peers.celery_tasks",
            "worker",
            "-Q",
            QUEUE,
            "-c",
            "2",
            "-l",
            "ERROR",
        ]
        with redis.Redis.from_url(servers.broker_url()) as client:

            def left() -> int:
                return int(client.llen(f"{prefix}{QUEUE}")) + int(client.hlen(f"{prefix}unacked"))

            with running(command) as children:
                # Children of the worker are there once the first tasks are done.
                wait(lambda: left() < TASKS, children, every_s=0.002)
                began, there = time.perf_counter(), left()
                wait(lambda: left() == 0, children, every_s=0.005)
                rate = there / (time.perf_counter() - began)
        say(Figure(name="Celery: empty tasks, two children", value=rate, unit="/s"))


if __name__ == "__main__":
    main()
