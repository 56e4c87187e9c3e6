"""Going on with one run: from its journal to what it does next, and on, each step in a transaction that commits alone.

The row of the run is held while its function runs, and nothing is kept in memory between two passes. A transition takes
its entity's row without waiting for it. Where it was passed over for a second it is waited for, holding nothing: the
entity first, then the run, as people's transactions do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

from django.db import DatabaseError, OperationalError, connections, transaction
from psycopg import errors

from toa.cadence.calls.live import LOCK_TIMEOUT, Live
from toa.cadence.calls.outcomes import back_off_ms, is_transient
from toa.cadence.calls.suspects import Docket, noted
from toa.cadence.source import BACKSTOP_MS
from toa.core.allowance import Allowance
from toa.core.clock import to_datetime
from toa.core.traces import sentence
from toa.exceptions import Busy, Nondeterministic
from toa.runtime import clock, settings, waking
from toa.runtime.deciding import Verdict
from toa.runtime.sending import together
from toa.runtime.table import Lock
from toa.runtime.writing import Entry as Drafted
from toa.workflow import rows, writing
from toa.workflow.ending import end, fail
from toa.workflow.entries import answered, raised
from toa.workflow.machine import Machine
from toa.workflow.opening import opened
from toa.workflow.pauses import Broken, Ended, Pause, Perform, Wait, Write
from toa.workflow.performing import Prepared
from toa.workflow.rows import Row

logger = logging.getLogger("toa.workflow")

COMMITS = 100
"""Steps that one run commits within a pass at most; the rest comes with the next one."""


class Driven(Enum):
    """How far a run was brought."""

    MOVED = "moved"
    """It waits, or has ended."""
    LEFT = "left"
    """It could go on at once."""
    HELD = "held"
    """Somebody else has it, or what it needs."""


class _Gone(Exception):
    """The run was taken, moved or cancelled since it was found."""


class _StepRaised(Exception):
    """What a step raised. Nothing of it is written; the function is to be told."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def drive(live: Live, docket: Docket | None, allowance: Allowance) -> Driven:
    """Go on with a run that is due, as far as it goes within the allowance."""
    driving = _Driving(live, docket)
    try:
        return driving.go(allowance)
    finally:
        driving.close()


class _Driving:
    """One run on its way through a pass."""

    def __init__(self, live: Live, docket: Docket | None) -> None:
        self._live = live
        self._docket = docket
        self._row: Row | None = None
        self._machine: Machine | None = None
        self._pause: Pause | None = None
        """What is to be done first, where the function stopped before something that has a transaction of its own."""
        self._raised: Exception | None = None
        """What doing it raised."""
        self._started = clock.clock().now()

    def close(self) -> None:
        if self._machine is not None:
            self._machine.close()

    def go(self, allowance: Allowance) -> Driven:
        reached = Driven.HELD
        patient = self._started - self._live.wake >= BACKSTOP_MS
        waited = False
        commits = 0
        while commits < COMMITS:
            try:
                with transaction.atomic(using=settings.alias()), noted(self._docket):
                    on = self._patiently() if waited else self._segment()
            except _Gone:
                return reached
            except _StepRaised as step:
                self._raised, waited = step.error, False
                continue
            except Busy:
                if patient and not waited and isinstance(self._pause, Perform):
                    waited = True
                    continue
                return reached
            except OperationalError as error:
                if isinstance(error.__cause__, errors.LockNotAvailable):
                    return reached
                raise
            assert self._machine is not None
            self._machine.journal.committed()
            commits += 1
            waited = False
            if not on:
                return Driven.MOVED
            reached = Driven.LEFT
            if allowance.used_up:
                break
        return Driven.LEFT

    # -- one transaction ------------------------------------------------------------------------------------

    def _segment(self) -> bool:
        """Do the next thing; whether there is more to do at once."""
        row = self._claimed()
        try:
            self._machine = self._machine or opened(row, self._live.wake)
        except DatabaseError:
            raise
        except Exception as error:  # the code of the workflow cannot be loaded, or does not take its input any more
            fail(row, error)
            return False
        return self._follow(row, self._machine, self._pause)

    def _patiently(self) -> bool:
        """The same for a transition whose entity was held: wait for it, and take the run's row after it."""
        assert self._row is not None
        assert self._machine is not None
        assert isinstance(self._pause, Perform)
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")

        def locked(entries: Sequence[Drafted]) -> Verdict | None:
            self._claimed()
            return None

        self._call(self._machine, Prepared(self._row, self._pause), Lock.WAIT, locked)
        self._pause = None
        return self._follow(self._row, self._machine, None, made=True)

    def _claimed(self) -> Row:
        if self._row is None:
            row = rows.claim(self._live.id, self._live.wake, self._live.attempt)
        else:
            row = rows.claim_again(self._row)
        if row is None:
            raise _Gone
        if self._docket is not None:
            self._docket.write([row.id])
        self._row = row
        return row

    def _follow(self, row: Row, machine: Machine, pause: Pause | None, *, made: bool = False) -> bool:
        """Go on until something has to commit. `made` says that a transition was made in this transaction."""
        while True:
            try:
                pause = pause or machine.advance()
            except Nondeterministic as error:
                fail(row, error)
                return False
            match pause:
                case Wait():
                    self._write(row, machine, pause)
                    return False
                case Write():
                    self._write(row, machine, None)
                    return True
                case Ended() | Broken():
                    if machine.withdrawn:
                        writing.withdraw(row.id)
                    with together():
                        end(row, machine.journal, pause)
                    return False
                case Perform():
                    self._pause = pause
                    if made:
                        self._write(row, machine, None)
                        return True
                    pause, made = self._perform(row, machine, pause)
                    self._pause = None

    def _perform(self, row: Row, machine: Machine, perform: Perform) -> tuple[Wait | None, bool]:
        """Call an operation; what the run waits for then, and whether something was written by it."""
        failed, self._raised = self._raised, None
        try:
            prepared = Prepared(row, perform)
        except Exception as wrong:
            machine.record(*raised(wrong))
            return None, False
        if failed is not None:
            attempt, spec = row.attempt + 1, prepared.operation.spec
            if is_transient(failed, spec) and attempt < spec.attempts:
                wait = machine.waiting(machine.now() + back_off_ms(attempt), attempt=attempt)
                return replace(wait, error=sentence(failed)), False
            machine.record(*raised(failed))
            return None, False
        if prepared.is_effect:
            return machine.waiting(None, call=prepared.store(machine.now())), False
        if prepared.writes:
            self._call(machine, prepared, Lock.SKIP)
            return None, True
        try:
            machine.record(*answered(prepared.look(), f"the reply of {perform.calling.name}"))
        except Exception as error:
            raise _StepRaised(error) from error
        return None, False

    def _call(
        self,
        machine: Machine,
        prepared: Prepared,
        lock: Lock,
        locked: Callable[[Sequence[Drafted]], Verdict | None] | None = None,
    ) -> None:
        try:
            reply = prepared.decide(lock, locked)
            machine.record(*answered(reply, f"the reply of {prepared.operation.endpoint}"))
        except (Busy, _Gone):
            raise
        except OperationalError as error:
            if isinstance(error.__cause__, errors.LockNotAvailable):
                raise Busy(str(error)) from error
            raise _StepRaised(error) from error
        except Exception as error:
            raise _StepRaised(error) from error

    def _write(self, row: Row, machine: Machine, wait: Wait | None) -> None:
        if machine.withdrawn:
            writing.withdraw(row.id)
            machine.withdrawn = False
        wake = row.wake if wait is None else wait.until
        waits, error = (None, "") if wait is None else (wait.waits, wait.error)
        with together():
            self._row = writing.write(row, machine.journal, machine.progress.watches, waits, wake, error)
        if wait is not None and wake is not None:
            waking.after_commit(to_datetime(wake), to_datetime(machine.now()))
