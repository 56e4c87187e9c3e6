"""Celery ETA: how late empty tasks begin that come due at several rates, through two prefork children.

    python -m benchmarks peers.celery_late

The worker holds all of them in its memory until their moment, and loses none because none dies here.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

import redis
from celery import Celery

from benchmarks.harness import QUICK, RATES, SECONDS, database, lateness, spread
from config import servers

QUEUE = "bench"
MEASURED = RATES[:3] if QUICK else RATES

app = Celery("bench", broker=servers.broker_url())
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    broker_transport_options={"global_keyprefix": os.environ.get("BROKER_PREFIX", "")},
    task_default_queue=QUEUE,
    broker_connection_retry_on_startup=True,
)
_connected: list[redis.Redis] = []


@app.task(name="bench.note")
def note(moment: int) -> None:
    """Tell how late it began, in ms."""
    late = time.time() * 1000 - moment
    if not _connected:
        _connected.append(redis.Redis.from_url(servers.broker_url()))
    _connected[0].rpush(f"{os.environ['BROKER_PREFIX']}late", late)


def main() -> None:
    with database():
        from benchmarks.processes import environment, running, wait

        prefix = environment()["BROKER_PREFIX"]
        app.conf.broker_transport_options = {"global_keyprefix": prefix}
        place = ["-A", "benchmarks.peers.celery_late", "worker", "-Q", QUEUE, "-c", "2", "-l", "ERROR"]
        with (
            redis.Redis.from_url(servers.broker_url()) as client,
            running(["-m", "celery", *place]) as children,
        ):

            def told(moments: list[int]) -> list[float]:
                client.delete(f"{prefix}late")
                for moment in moments:
                    note.apply_async((moment,), eta=datetime.fromtimestamp(moment / 1000, UTC))
                wait(lambda: client.llen(f"{prefix}late") == len(moments), children)
                return [float(late) for late in client.lrange(f"{prefix}late", 0, -1)]

            told([int(time.time() * 1000)] * 20)
            for rate in MEASURED:
                # A thousand are sent in a little more than a second.
                ahead = 1_500 + rate * SECONDS * 3 // 2
                lateness("Celery ETA", rate, told(spread(int(time.time() * 1000) + ahead, rate, SECONDS)))


if __name__ == "__main__":
    main()
