"""`toa run`: beat and workers in one process, without a broker."""

from __future__ import annotations

import logging
import queue
import signal
import threading
import time

from django.db import Error, close_old_connections, connections

from toa.cadence.calls import suspects
from toa.cadence.listening import Listener
from toa.cadence.looking import Lookout
from toa.cadence.pacing import Beat, Pacer, wait_until
from toa.cadence.passes import perform, run_pass
from toa.cadence.processes import Heartbeat, stands_down
from toa.cadence.pulses import replica
from toa.cadence.serving import serve
from toa.cadence.sessions import prepare_session
from toa.cadence.source import BACKSTOP_MS, Hint
from toa.cadence.sources import lower, source
from toa.cadence.upkeep import Upkeep

logger = logging.getLogger("toa.run")

PASS_LEAST_MS = 4
"""Passes for work that came due since the last one are at least this far apart."""
ROUNDING_MS = 1
"""By how much a wait for a hint may be too long."""


class _Pool:
    """Threads that claim and run leased calls; hints wait in memory, and losing them costs a second."""

    def __init__(self, size: int) -> None:
        self._hints: queue.SimpleQueue[Hint | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"toa-call-{number}", daemon=True) for number in range(size)
        ]
        for thread in self._threads:
            thread.start()

    def hint(self, hint: Hint) -> None:
        self._hints.put(hint)

    def more(self) -> None:
        """The loop makes the next pass by itself."""

    def close(self) -> None:
        """Let what runs finish, and stop."""
        for _ in self._threads:
            self._hints.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (hint := self._hints.get()) is not None:
            try:
                prepare_session()
                if perform(hint) and source(hint.source).waiting(hint.endpoint):
                    self._hints.put(hint)
            except Exception:
                logger.exception("%s could not be run", hint.endpoint, extra={"action": "perform_failed"})
            finally:
                close_old_connections()
        connections.close_all()


class Runner:
    """Looks at what is due, fires it, and sleeps until the next moment or the next hint."""

    def __init__(self, threads: int) -> None:
        self._pool = _Pool(threads)
        self._pacer = Pacer(PASS_LEAST_MS)
        self._lookout = Lookout()
        self._listener = Listener()
        self._heartbeat = Heartbeat("run", capacity=threads)
        self._upkeep = Upkeep()
        self._over = threading.Event()
        self._then: frozenset[str] = frozenset()
        self._looked_at = 0.0

    def run(self) -> None:
        """Work until `stop`, or in a process's main thread until SIGINT or SIGTERM; what runs then finishes."""
        serve()
        replica.start()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: self.stop())
        try:
            while not self._over.is_set():
                beat = self._look()
                early_ms = ROUNDING_MS if beat.then else 0
                woken = self._listener.wait(self._looked_at + (beat.wait_ms - early_ms) / 1000 - time.monotonic())
                self._then = frozenset() if woken else beat.then
        finally:
            replica.stop()
            self._pool.close()
            suspects.close()
            self._heartbeat.stop()
            self._listener.close()

    def _look(self) -> Beat:
        """Fire what is due; returns for how long to wait, and for what."""
        self._looked_at = time.monotonic()
        try:
            prepare_session()
            self._heartbeat.beat()
            if stands_down():
                return Beat(False, BACKSTOP_MS)
            # What comes due now is known: it does not wait for the look that would find it.
            if self._then and (moment := self._pacer.asked()) is not None:
                wait_until(moment)
                self._fire(self._then)
            self._looked_at = time.monotonic()
            seen = self._lookout.look()
            beat = self._pacer.look(seen)
            if self._lookout.late is not None:
                lower(self._lookout.late)
            if not beat.tick:
                self._upkeep.turn()
                return beat
            self._fire(seen.sources)
            # What came due meanwhile is found by the next look at once; what is held is left to the pacer.
            return Beat(False, 0)
        except Error as error:
            logger.warning("the database cannot be reached: %s", error, extra={"action": "database_lost"})
            connections.close_all()
            return Beat(False, BACKSTOP_MS)

    def _fire(self, due: frozenset[str]) -> int:
        settled = 0
        while True:
            step = run_pass(self._pool, only=due)
            settled += step.settled
            if not step.full or self._over.is_set():
                return settled
            self._heartbeat.beat()

    def stop(self) -> None:
        """End the loop, a second from now at the latest. From any thread."""
        self._over.set()
