"""Celery beat that sleeps until the next due moment and is woken by what comes sooner."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import Error, connections
from django_celery_beat.schedulers import DatabaseScheduler

from toa.cadence.listening import Listener
from toa.cadence.pacing import Pacer
from toa.cadence.processes import Heartbeat
from toa.cadence.source import BACKSTOP_MS
from toa.cadence.sources import horizon
from toa.runtime import settings
from toa.tasks import TICK_EXPIRES_S, tick

logger = logging.getLogger("toa.beat")


def entries() -> dict[str, Any]:
    """The entry for `beat_schedule` that drives toa from any other scheduler: a tick each second, coarser."""
    return {"toa.tick": {"task": "toa.tick", "schedule": BACKSTOP_MS / 1000, "options": {"expires": TICK_EXPIRES_S}}}


class CadenceScheduler(DatabaseScheduler):  # type: ignore[misc]
    """django-celery-beat's scheduler for the project's own periodic tasks, and toa's rhythm beside it.

    It waits inside `tick` and asks Celery for no sleep after it, so that a hint ends the wait. Any number of these
    may run: a second one sends ticks that find nothing.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pacer = Pacer()
        self._listener = Listener()
        self._heartbeat = Heartbeat("beat")
        self._entries_at = 0.0
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One look at both calendars; returns 0, having waited already."""
        self._tick_entries(*args, **kwargs)
        self._heartbeat.beat()
        wait_s = self._look()
        until_entries = self._entries_at - time.monotonic()
        self._listener.wait(max(0.0, min(wait_s, until_entries)))
        return 0.0

    def close(self) -> None:
        """Called by Celery when beat ends."""
        self._heartbeat.stop()
        self._listener.close()
        super().close()

    def _tick_entries(self, *args: Any, **kwargs: Any) -> None:
        """Let django-celery-beat send what is due of its own, no more often than it asked for or once a second."""
        if time.monotonic() < self._entries_at:
            return
        try:
            wait_s = super().tick(*args, **kwargs)
        except Error as error:
            self._lost(error)
            wait_s = 1.0
        # Celery writes `last_run_at` only after a sleep of its own, which this scheduler never asks for.
        if self.should_sync():
            self._do_sync()
        self._entries_at = time.monotonic() + min(max(wait_s or 0.0, 0.0), BACKSTOP_MS / 1000)

    def _look(self) -> float:
        """Send a tick where something is due; returns how long to wait, in seconds."""
        try:
            beat = self._pacer.look(horizon())
        except Error as error:
            self._lost(error)
            return BACKSTOP_MS / 1000
        if beat.tick:
            try:
                tick.apply_async(retry=False)
            except Exception as error:  # whatever the transport raises: the next look sends another
                logger.warning("the tick was not sent: %s", error, extra={"action": "tick_lost"})
        return beat.wait_ms / 1000

    def _lost(self, error: Error) -> None:
        logger.warning("beat cannot reach the database: %s", error, extra={"action": "database_lost"})
        connections[settings.alias()].close()
