"""Celery: the app of the benchmarks, its two tasks, and the worker that runs them."""

from __future__ import annotations

import os
import time

import redis
from celery import Celery

from config import servers

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
_connected: list[redis.Redis] = []


@app.task(name="bench.nothing")
def nothing() -> None:
    """Does nothing."""


@app.task(name="bench.note")
def note(moment: int) -> None:
    """Tell how late it began, in ms."""
    late = time.time() * 1000 - moment
    if not _connected:
        _connected.append(redis.Redis.from_url(servers.broker_url()))
    _connected[0].rpush(f"{os.environ['BROKER_PREFIX']}late", late)


def worker_command() -> list[str]:
    """A worker with two prefork children."""
    place = ["-A", "benchmarks.peers.celery_app", "worker", "-Q", QUEUE, "-c", "2", "-l", "ERROR"]
    return ["-m", "celery", *place]
