"""Celery: empty tasks through two prefork children. Nothing is stored, and nothing is exactly once.

python -m benchmarks peers.celery_tasks
"""

from __future__ import annotations

import time

from benchmarks.harness import QUICK, Figure, database, say
from benchmarks.peers.celery_app import QUEUE, app, nothing, worker_command
from config import servers

TASKS = 2_000 if QUICK else 10_000


def main() -> None:
    with database():
        import redis

        from benchmarks.processes import environment, running, wait

        prefix = environment()["BROKER_PREFIX"]
        app.conf.broker_transport_options = {"global_keyprefix": prefix}
        for _ in range(TASKS):
            nothing.delay()
        with redis.Redis.from_url(servers.broker_url()) as client:

            def left() -> int:
                return int(client.llen(f"{prefix}{QUEUE}")) + int(client.hlen(f"{prefix}unacked"))

            with running(worker_command()) as children:
                # Children of the worker are there once the first tasks are done.
                wait(lambda: left() < TASKS, children, every_s=0.002)
                began, there = time.perf_counter(), left()
                wait(lambda: left() == 0, children, every_s=0.005)
                rate = there / (time.perf_counter() - began)
        say(Figure(name="Celery: empty tasks, two children", value=rate, unit="/s"))


if __name__ == "__main__":
    main()
