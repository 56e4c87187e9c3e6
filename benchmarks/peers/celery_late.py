"""Celery ETA: how late empty tasks begin that come due at several rates, through two prefork children.

    python -m benchmarks peers.celery_late

The worker holds all of them in its memory until their moment, and loses none because none dies here.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import redis

from benchmarks.harness import QUICK, RATES, SECONDS, database, in_time, lateness, spread
from benchmarks.peers.celery_app import app, note, worker_command
from config import servers

WARM = 20
MEASURED = RATES[:3] if QUICK else RATES


def main() -> None:
    with database():
        from benchmarks.processes import environment, running, wait

        prefix = environment()["BROKER_PREFIX"]
        app.conf.broker_transport_options = {"global_keyprefix": prefix}
        with (
            redis.Redis.from_url(servers.broker_url()) as client,
            running(worker_command()) as children,
        ):

            def told(moments: list[int]) -> list[float]:
                client.delete(f"{prefix}late")
                for moment in moments:
                    note.apply_async((moment,), eta=datetime.fromtimestamp(moment / 1000, UTC))
                if len(moments) > WARM:
                    in_time(moments[0])
                wait(lambda: client.llen(f"{prefix}late") == len(moments), children)
                return [float(late) for late in client.lrange(f"{prefix}late", 0, -1)]

            told([int(time.time() * 1000)] * WARM)
            for rate in MEASURED:
                # A thousand are sent in a little more than a second.
                ahead = 1_500 + rate * SECONDS * 3 // 2
                lateness("Celery ETA", rate, told(spread(int(time.time() * 1000) + ahead, rate, SECONDS)))


if __name__ == "__main__":
    main()
