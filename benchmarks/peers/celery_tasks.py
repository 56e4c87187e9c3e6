"""Celery: empty tasks through two prefork children, and how late those begin that have an ETA.

    python -m benchmarks peers.celery_tasks

Nothing is stored, and nothing is exactly once. The worker holds all tasks with an ETA in its memory until their moment,
and loses none because none dies here.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial

from benchmarks.databases import database
from benchmarks.harness import QUICK, RATES, Figure, in_time, lateness, number_of, patiently, say, spread
from benchmarks.peers.celery_app import QUEUE, app, note, nothing, worker_command
from config import servers

TASKS = 2_000 if QUICK else 10_000
MEASURED = RATES[:3] if QUICK else RATES
SEND_MS = 1.5
"""More than what sending one task takes."""


def main() -> None:
    with database():
        import redis

        from benchmarks.processes import environment, running, wait

        prefix = environment()["BROKER_PREFIX"]
        app.conf.broker_transport_options = {"global_keyprefix": prefix}
        for _ in range(TASKS):
            nothing.delay()
        with redis.Redis.from_url(servers.broker_url()) as client, running(worker_command()) as children:

            def left() -> int:
                return int(client.llen(f"{prefix}{QUEUE}")) + int(client.hlen(f"{prefix}unacked"))

            def late(rate: int, times: int) -> list[float]:
                """How late each began, where sending one may take so many times as long."""
                client.delete(f"{prefix}late")
                moments = spread(int(time.time() * 1000 + times * (1_000 + number_of(rate) * SEND_MS)), rate)
                for moment in moments:
                    note.apply_async((moment,), eta=datetime.fromtimestamp(moment / 1000, UTC))
                sent = time.time() * 1000
                wait(lambda: client.llen(f"{prefix}late") == len(moments), children)
                in_time(moments[0], sent)
                return [float(late) for late in client.lrange(f"{prefix}late", 0, -1)]

            # Children of the worker are there once the first tasks are done.
            wait(lambda: left() < TASKS, children, every_s=0.002)
            began, there = time.perf_counter(), left()
            wait(lambda: left() == 0, children, every_s=0.005)
            rate = there / (time.perf_counter() - began)
            say(Figure(name="Celery: empty tasks, two children", value=rate, unit="/s", note=f"of {there:,}"))
            for rate_due in MEASURED:
                lateness("Celery ETA", rate_due, patiently(partial(late, rate_due)))


if __name__ == "__main__":
    main()
