"""Celery beat that sleeps until the next due moment and is woken by what comes sooner."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import Error, connections
from django.db.models import F
from django_celery_beat.schedulers import DatabaseScheduler

from toa.cadence.listening import Listener
from toa.cadence.looking import Lookout
from toa.cadence.pacing import Beat, Pacer
from toa.cadence.processes import Heartbeat, stands_down
from toa.cadence.serving import look
from toa.cadence.source import BACKSTOP_MS
from toa.cadence.tick import AHEAD_MS, TICK, TICK_EXPIRES_S, TICK_LEAST_MS
from toa.cadence.upkeep import Upkeep
from toa.runtime import settings

logger = logging.getLogger("toa.beat")


def entries() -> dict[str, Any]:
    """The entry for `beat_schedule` that drives toa from any other scheduler: a tick each second, coarser."""
    return {TICK: {"task": TICK, "schedule": BACKSTOP_MS / 1000, "options": {"expires": TICK_EXPIRES_S}}}


class CadenceScheduler(DatabaseScheduler):  # type: ignore[misc]
    """django-celery-beat's scheduler for the project's own periodic tasks, and toa's rhythm beside it.

    It waits inside `tick` and asks Celery for no sleep after it, so that a hint ends the wait. Any number of these
    may run: a second one sends ticks that find nothing, and a periodic task is sent by the one whose update of its
    stored `last_run_at` succeeds.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pacer = Pacer(TICK_LEAST_MS)
        self._lookout = Lookout()
        self._listener = Listener()
        self._heartbeat = Heartbeat("beat")
        self._upkeep = Upkeep()
        look()
        self._entries_at = 0.0
        self._lost_entries: set[str] = set()
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One look at both calendars; returns 0, having waited already."""
        self._heartbeat.beat()
        if stands_down():
            self._listener.wait(BACKSTOP_MS / 1000)
            return 0.0
        self._tick_entries(*args, **kwargs)
        began = time.monotonic()
        beat = self._look()
        self._sleep(beat, began + beat.wait_ms / 1000)
        return 0.0

    def close(self) -> None:
        """Called by Celery when beat ends."""
        self._heartbeat.stop()
        self._listener.close()
        super().close()

    def reserve(self, entry: Any) -> Any:
        """Mark a periodic task as run, in the database first: of several beats one succeeds."""
        stored = self.Model.objects.filter(pk=entry.model.pk).values_list("last_run_at", flat=True).first()
        known = stored if stored is None or entry.model.last_run_at is None else entry.model.last_run_at
        reserved = super().reserve(entry)
        model = reserved.model
        won = self.Model.objects.filter(pk=model.pk, last_run_at=known).update(
            last_run_at=model.last_run_at, total_run_count=F("total_run_count") + 1
        )
        if not won:
            self._lost_entries.add(entry.name)
            model.refresh_from_db(fields=["last_run_at", "total_run_count"])
        # It is written already; what Celery saves later would be a copy that may be older.
        self._dirty.discard(entry.name)
        return reserved

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a periodic task, unless another beat did."""
        if entry.name in self._lost_entries:
            self._lost_entries.discard(entry.name)
            return
        super().apply_entry(entry, producer=producer)

    def _tick_entries(self, *args: Any, **kwargs: Any) -> None:
        """Let django-celery-beat send what is due of its own, no more often than it asked for or once a second."""
        if time.monotonic() < self._entries_at:
            return
        try:
            wait_s = super().tick(*args, **kwargs)
        except Error as error:
            self._lost(error)
            wait_s = 1.0
        # Celery syncs only after a sleep of its own, which this scheduler never asks for.
        if self.should_sync():
            self._do_sync()
        self._entries_at = time.monotonic() + min(max(wait_s or 0.0, 0.0), BACKSTOP_MS / 1000)

    def _look(self) -> Beat:
        """Send a tick where something is due; returns for how long to wait, and for what."""
        try:
            seen = self._lookout.look()
        except Error as error:
            self._lost(error)
            return Beat(False, BACKSTOP_MS)
        beat = self._pacer.look(seen)
        if beat.tick:
            self._send(self._lookout.late, seen.sources, None)
        else:
            self._upkeep.turn()  # what people do is history too, where nothing ever comes due
        return beat

    def _sleep(self, beat: Beat, end: float) -> None:
        """Wait until the end, or for a hint. What comes due just then is known: its tick waits for no look, and is on
        its way by then."""
        if beat.then and time.monotonic() < end <= self._entries_at:
            if self._wait(end - AHEAD_MS / 1000):
                return
            self._send(None, beat.then, self._pacer.asked())
        self._wait(min(end, self._entries_at))

    def _wait(self, end: float) -> bool:
        return self._listener.wait(max(0.0, end - time.monotonic()))

    def _send(self, late: int | None, due: frozenset[str], at: int | None) -> None:
        try:
            self.app.send_task(TICK, args=(late, sorted(due), at), expires=TICK_EXPIRES_S, retry=False)
        except Exception as error:  # whatever the transport raises: the next look sends another
            logger.warning("the tick was not sent: %s", error, extra={"action": "tick_lost"})

    def _lost(self, error: Error) -> None:
        logger.warning("beat cannot reach the database: %s", error, extra={"action": "database_lost"})
        connections[settings.alias()].close()
