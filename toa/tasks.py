"""The Celery tasks of toa. They carry hints: everything that must not be lost is in the database."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import nullcontext
from typing import Any

from celery import shared_task
from celery.signals import (
    beat_init,
    celeryd_after_setup,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
)
from django.db import connections

from toa.cadence import sources
from toa.cadence.calls import suspects
from toa.cadence.pacing import wait_until
from toa.cadence.passes import perform, run_pass
from toa.cadence.processes import Heartbeat, capacity, stands_down
from toa.cadence.pulses import replica
from toa.cadence.serving import serve, settle
from toa.cadence.sessions import end_session, kept_session, prepare_session
from toa.cadence.source import BACKSTOP_MS, Hint
from toa.cadence.tick import TICK, TICK_EXPIRES_S
from toa.cadence.upkeep import Upkeep
from toa.exceptions import InvalidConfiguration
from toa.runtime import clock
from toa.runtime.configuration import check_all

logger = logging.getLogger("toa.tasks")

CALLS_QUEUE = "toa.calls"
"""The queue of leased calls; a worker that consumes it counts among those that can run them."""


class _Broker:
    """Sends hints and ticks as messages; a broker that is away costs punctuality only.

    One endpoint gets as many hints from one pass as all workers together can run calls: each that ends looks for the
    next one by itself, and a backlog would else fill the queue with word of what somebody else has made long since.
    """

    def __init__(self) -> None:
        self._sent: Counter[Hint] = Counter()
        self._most: int | None = None

    def hint(self, hint: Hint) -> None:
        if self._sent[hint]:
            if self._most is None:
                self._most = max(capacity(), 1)
            if self._sent[hint] >= self._most:
                return
        self._sent[hint] += 1
        self._send(call, hint.source, hint.endpoint, clock.clock().now())

    def more(self) -> None:
        self._send(tick)

    def _send(self, task: Any, *arguments: Any) -> None:
        try:
            task.apply_async(arguments, retry=False)
        except Exception as error:  # whatever the transport raises: the call is in the database
            logger.warning("%s was not sent: %s", task.name, error, extra={"action": "message_lost"})


# Whoever sends the ticks is alive as long as they come: another scheduler than ours writes no heartbeat of its own.
_ticks = Heartbeat("tick")
_upkeep = Upkeep()


@shared_task(name=TICK, expires=TICK_EXPIRES_S, acks_late=True, ignore_result=True)
def tick(since: int | None = None, only: list[str] | None = None, at: int | None = None) -> None:
    """Make one pass over everything that is due, and ask for another where there was more.

    `since` (epoch ms) says that beat saw something due that is as old as that; `only` names the sources of which it
    knows that something is due, null: any; `at` (epoch ms) is when it comes due, a few ms ahead.
    """
    # Called as a function it is part of what the caller does, on the caller's connection.
    by_caller = tick.request.called_directly or tick.request.is_eager
    with nullcontext() if by_caller else kept_session():
        _make_pass(since, only, at)


def _make_pass(since: int | None, only: list[str] | None, at: int | None) -> None:
    if stands_down():
        return
    serve()
    prepare_session()
    _ticks.beat()
    if since is not None:
        sources.lower(since)
    if at is not None:
        wait_until(at)
    run_pass(_Broker(), only=only)
    _upkeep.turn()


@shared_task(name="toa.call", acks_late=True, ignore_result=True)
def call(source: str, endpoint: str, sent: int | None = None) -> None:
    """Claim the oldest waiting call of an endpoint and run it under a lease; ask for the next where one waits.

    `sent` is when the hint was given, epoch ms. One that waited for longer than a second is let go, at no cost: by
    then another one was sent, and calls of other endpoints wait behind it.
    """
    if stands_down() or (sent is not None and clock.clock().now() - sent > BACKSTOP_MS):
        return
    prepare_session()
    hint = Hint(source, endpoint)
    if perform(hint) and sources.source(source).waiting(endpoint):
        _Broker().hint(hint)


_heartbeat: Heartbeat | None = None


@beat_init.connect
@celeryd_after_setup.connect  # before the first fork
def _settle(**_: Any) -> None:
    settle()


@worker_init.connect
@beat_init.connect
def _check_configuration(**_: Any) -> None:
    """An unfit value stops the start: what would be called with it is worse than what is late."""
    try:
        check_all()
    except InvalidConfiguration as error:
        raise SystemExit(str(error)) from error


@worker_ready.connect
def _worker_ready(sender: Any = None, **_: Any) -> None:
    global _heartbeat
    queues = getattr(getattr(sender, "task_consumer", None), "queues", ())
    runs_calls = any(getattr(queue, "name", "") == CALLS_QUEUE for queue in queues)
    concurrency = int(getattr(getattr(sender, "controller", None), "concurrency", 0) or 1)
    _heartbeat = Heartbeat("worker", capacity=concurrency if runs_calls else 0)
    _heartbeat.start()
    # The parent of forked children runs no calls; each of them starts its own below.
    if not type(getattr(sender, "pool", None)).__module__.endswith(".prefork"):
        replica.start()


@worker_shutdown.connect
def _worker_shutdown(**_: Any) -> None:
    replica.stop()
    if _heartbeat is not None:
        _heartbeat.stop()


@worker_process_init.connect
def _worker_process_init(**_: Any) -> None:
    # A connection that was open before the fork belongs to the parent.
    for connection in connections.all(initialized_only=True):
        connection.connection = None
    replica.start()


@worker_process_shutdown.connect
def _worker_process_shutdown(**_: Any) -> None:
    replica.stop()
    suspects.close()
    end_session()
