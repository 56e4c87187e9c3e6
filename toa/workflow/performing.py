"""The steps of a run that call an operation, and the calls of effects that a run waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.rows import fresh
from toa.cadence.calls.settling import line
from toa.core.allowance import drawing
from toa.core.calling import Call, refuses_chain
from toa.core.clock import to_datetime
from toa.core.query import Query
from toa.core.specs import OperationType
from toa.core.traces import sentence
from toa.exceptions import NotAllowedHere, StepFailed
from toa.models import Outcome
from toa.runtime import bindings, settings, waking
from toa.runtime.bindings import Operation
from toa.runtime.calls import compute, observe
from toa.runtime.deciding import Verdict, decide
from toa.runtime.journal import write_history
from toa.runtime.requests import Request, prepare
from toa.runtime.sql import insert_rows
from toa.runtime.table import Lock
from toa.runtime.writing import Entry as Drafted
from toa.workflow.entries import Answer, Entry, answered, raised
from toa.workflow.pauses import Perform
from toa.workflow.rows import Row
from toa.workflow.writing import step_row

_TOLD = """
UPDATE toa_run SET wake_at = CASE WHEN failed_at IS NULL THEN %s END, seq = seq + 1, steps = steps + 1, waits = NULL
 WHERE id = %s AND waits->>'call' = %s
"""


def _described(extra: Sequence[Any]) -> dict[str, Any]:
    run, position = extra
    return {"source": "step", "entity": f"run:{run.hex}", "turn": (position, 0)}


CALLS = Kind(name="step", table="toa_runcall", extra="run, position", describe=_described)
"""Effects that runs wait for."""


class Prepared:
    """A step that calls an operation, checked against it."""

    def __init__(self, row: Row, perform: Perform) -> None:
        """Raises what is wrong with it, which is what the workflow will be told."""
        self.row = row
        self.perform = perform
        self.operation: Operation = bindings.operation(perform.calling.name)
        if self.operation.spec.type is OperationType.WORKFLOW:
            raise NotAllowedHere(
                f"{self.operation.endpoint} is a workflow: it is started, not called",
                hint="have an operation send it: context.send(…)",
            )
        reason = refuses_chain(row.hops(), self.operation.endpoint)
        if reason:
            raise NotAllowedHere(reason)
        self.request: Request = prepare(self.operation, perform.calling.input, perform.calling.query)

    @property
    def query(self) -> Query | None:
        """Null where the call has none."""
        return self.request.query

    @property
    def is_effect(self) -> bool:
        return self.operation.spec.type is OperationType.EFFECT

    @property
    def writes(self) -> bool:
        return self.operation.writes

    def call(self) -> Call:
        """Who calls; the same at every attempt."""
        return Call(
            endpoint=self.operation.endpoint,
            key=self.perform.key,
            caller=self.row.endpoint,
            chain=self.row.hops(),
            cause={"run": self.row.id.hex, "endpoint": self.row.endpoint, "key": self.row.id.hex},
        )

    def look(self) -> Any:
        """The reply of an observation or a computation."""
        run = observe if self.operation.spec.type is OperationType.OBSERVATION else compute
        with drawing():
            return run(self.operation, self.request, self.call())

    def decide(self, lock: Lock, locked: Callable[[Sequence[Drafted]], Verdict | None] | None = None) -> Any:
        """The reply of a transition or an assignment, in the open transaction."""
        return decide(self.operation, self.request, self.call(), lock=lock, locked=locked)

    def store(self, now: int) -> str:
        """Store the call of an effect, to be made under a lease; returns its id."""
        insert_rows(CALLS.table, [self.row_of(now)])
        moment = to_datetime(now)
        waking.after_commit(moment, moment)
        return self.identity.hex

    @property
    def identity(self) -> UUID:
        """The id of the call of an effect."""
        return UUID(hex=self.perform.key[:32])

    def row_of(self, now: int) -> dict[str, Any]:
        """The call of an effect as a row of its table."""
        given = self.perform.calling
        query = None if given.query is None else dict(given.query)
        row = fresh(
            self.identity,
            self.operation.endpoint,
            {"input": given.input, "query": query},
            due=now,
            now=now,
            cause={"run": self.row.id.hex, "endpoint": self.row.endpoint},
            chain=self.row.hops(),
        )
        return row | {"run": self.row.id, "position": self.perform.position}


class Told:
    """Writes the end of an effect's call into the journal of the run that waits for it, and wakes the run."""

    def answered(self, live: Live, reply: Any, now: int) -> None:
        try:
            outcome, value = answered(reply, f"the reply of {live.endpoint}")
        except StepFailed as error:
            outcome, value = raised(error)
        self._write(live, outcome, value, now)

    def failed(self, live: Live, error: BaseException, traceback: str, started: int, now: int) -> None:
        CALLS.remove(live)
        write_history([line(live, Outcome.FAILED, sentence(error), started, now)])
        self._write(live, *raised(error), now)

    def _write(self, live: Live, outcome: Answer, value: Any, now: int) -> None:
        run = UUID(hex=live.entity.removeprefix("run:"))
        moment = to_datetime(now)
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(_TOLD, [moment, run, live.id.hex])
            waiting = cursor.rowcount
        if waiting:  # else it was cancelled, or a deadline was over
            entry = Entry(kind="call", name=live.endpoint, outcome=outcome, value=value, at=now)
            insert_rows("toa_runstep", [step_row(run, live.turn[0], entry)])
            waking.after_commit(moment, moment)
