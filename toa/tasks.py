"""The Celery tasks of toa. They carry hints: everything that must not be lost is in the database."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_process_init, worker_ready, worker_shutdown
from django.db import connections

from toa.cadence.passes import perform, run_pass
from toa.cadence.processes import Heartbeat
from toa.cadence.sessions import prepare_session
from toa.cadence.source import Hint

TICK_EXPIRES_S = 30
"""A tick that waited longer is dropped: a later one does its work."""


class _Broker:
    """Sends hints and ticks as messages; a broker that is away costs punctuality only."""

    def hint(self, hint: Hint) -> None:
        call.apply_async((hint.source, hint.endpoint), retry=False)

    def more(self) -> None:
        tick.apply_async(retry=False)


@shared_task(name="toa.tick", expires=TICK_EXPIRES_S, acks_late=True, ignore_result=True)
def tick() -> None:
    """Make one pass over everything that is due, and ask for another where there was more."""
    prepare_session()
    run_pass(_Broker())


@shared_task(name="toa.call", acks_late=True, ignore_result=True)
def call(source: str, endpoint: str) -> None:
    """Claim the oldest waiting call of an endpoint and run it under a lease."""
    prepare_session()
    perform(Hint(source, endpoint))


_heartbeat: Heartbeat | None = None


@worker_ready.connect
def _worker_ready(**_: Any) -> None:
    global _heartbeat
    _heartbeat = Heartbeat("worker")
    _heartbeat.start()


@worker_shutdown.connect
def _worker_shutdown(**_: Any) -> None:
    if _heartbeat is not None:
        _heartbeat.stop()


@worker_process_init.connect
def _worker_process_init(**_: Any) -> None:
    # A connection that was open before the fork belongs to the parent.
    for connection in connections.all(initialized_only=True):
        connection.inc_thread_sharing()
        connection.connection = None
        connection.dec_thread_sharing()
