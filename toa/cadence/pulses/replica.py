"""Pulses of scope `replica`: every worker process calls the effect by itself, each from a thread of its own.

The one timer that lives in a process, because its work does: keeping a connection warm, a cache fresh. Its first
boundary is the first one after the process started, and nothing is made up.
"""

from __future__ import annotations

import logging
import os
import socket
import threading

from django.db import Error as DatabaseError
from django.db import connections

from toa.cadence.declared import Declared, in_force
from toa.cadence.pulses.boundaries import begin, due_of, grid_of, key_of, reach, rests, settle
from toa.cadence.source import BACKSTOP_MS
from toa.core.calling import Call
from toa.core.error import Error
from toa.core.identity import digest
from toa.core.specs import PulseScope, PulseSpec
from toa.core.traces import sentence
from toa.models import Outcome, Pulse
from toa.runtime import bindings, clock, settings
from toa.runtime.calls import perform
from toa.runtime.requests import prepare

logger = logging.getLogger("toa.cadence")

STOP_S = 5.0
"""How long the end of a process waits for the calls that run, in seconds."""


class Replica:
    """A pulse as one process calls it."""

    def __init__(self, declared: Declared[PulseSpec], now: int) -> None:
        spec = declared.spec
        # A row of its own, never saved: the boundaries of this process are nobody else's.
        self._pulse = Pulse(
            endpoint=declared.endpoint, name=spec.name, cycle_ms=spec.cycle_ms, intervals=spec.intervals
        )
        self._pulse.cursor = grid_of(self._pulse).ordinal(now)
        self._process = f"{socket.gethostname()}:{os.getpid()}"

    @property
    def next(self) -> int:
        """The next boundary, epoch ms."""
        return grid_of(self._pulse).boundary(self._pulse.cursor + 1)

    def turn(self, now: int) -> None:
        """Call the effect if a boundary was reached; what is too late for a call, and what passes meanwhile, is
        recorded. While the stored pulse is paused, retired or missing, boundaries pass."""
        if now < self.next:
            return
        pulse, cause = self._pulse, {"process": self._process}
        if not self._goes_on():
            pulse.cursor = grid_of(pulse).ordinal(now)
        elif reach(pulse, now, cause):
            begin(pulse, now, 0)
            called = grid_of(pulse).ordinal(now)
            try:
                outcome, code = self._call()
                settle(pulse, outcome, code, clock.clock().now(), cause)
            finally:
                # A line that could not be written is no reason to call again.
                pulse.cursor = max(pulse.cursor, called)
                pulse.running = pulse.token = pulse.started_at = None

    def _goes_on(self) -> bool:
        pulse = self._pulse
        row = Pulse.objects.using(settings.alias()).filter(endpoint=pulse.endpoint, name=pulse.name).first()
        if row is None or rests(row):
            return False
        pulse.id = row.id
        return True

    def _call(self) -> tuple[Outcome, str]:
        pulse = self._pulse
        assert pulse.running is not None
        call = Call(
            endpoint=pulse.endpoint,
            key=digest(key_of(pulse), self._process)[:40],
            due=due_of(pulse),
            caller=f"pulse:{pulse.endpoint}",
            cause={"source": "pulse", "endpoint": pulse.endpoint, "pulse": pulse.id.hex, "process": self._process},
        )
        try:
            operation = bindings.operation(pulse.endpoint)
            reply = perform(operation, prepare(operation, grid_of(pulse).input_of(pulse.running)), call)
        except Exception as error:
            logger.exception("%s failed", pulse.endpoint, extra={"action": "failure", "endpoint": pulse.endpoint})
            return Outcome.FAILED, sentence(error)
        return (Outcome.REFUSED, reply.code) if isinstance(reply, Error) else (Outcome.MADE, "")


class _Threads:
    """The threads of this process, one for each pulse."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(one,), name=f"toa-replica-{one.endpoint}", daemon=True)
            for one in in_force().pulses
            if one.spec.scope is PulseScope.REPLICA
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(STOP_S)

    def _run(self, declared: Declared[PulseSpec]) -> None:
        replica: Replica | None = None
        wait_ms = 0
        while not self._over.wait(wait_ms / 1000):
            try:
                now = clock.clock().now()
                replica = replica or Replica(declared, now)
                replica.turn(now)
                wait_ms = max(1, min(replica.next - clock.clock().now(), BACKSTOP_MS))
            except DatabaseError as error:
                logger.warning(
                    "%s waits for the database: %s",
                    declared.endpoint,
                    error,
                    extra={"action": "database_lost", "endpoint": declared.endpoint},
                )
                wait_ms = BACKSTOP_MS
            finally:
                # It is used once at each boundary: not worth keeping between them.
                connections[settings.alias()].close()


_threads: _Threads | None = None


def start() -> None:
    """Call this process's replica pulses from now on. Asked again in the same process, it does nothing.

    To be called in each process that works, after its fork.
    """
    global _threads
    if _threads is None or _threads.pid != os.getpid():
        _threads = _Threads()


def stop() -> None:
    """Call none from now on, and wait a little for those that run."""
    global _threads
    if _threads is not None and _threads.pid == os.getpid():
        _threads.stop()
        _threads = None
