"""Runs, and the effects they wait for, as sources of due work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.due import StoredCalls, endpoints_of
from toa.cadence.calls.guarding import Fired
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.suspects import Docket
from toa.cadence.reports.backlog import Backlog, Count, count, of_each
from toa.cadence.source import Dispatch, Step
from toa.core.clock import to_moment
from toa.core.duration import HOUR_MS
from toa.core.specs import OperationType
from toa.runtime import clock, settings
from toa.workflow import rows
from toa.workflow.ending import SOURCE, fail
from toa.workflow.guarding import drive_all
from toa.workflow.performing import CALLS


def workflows() -> list[str]:
    """The workflows that this code knows."""
    return endpoints_of(OperationType.WORKFLOW)


def _described(extra: Sequence[Any]) -> dict[str, Any]:
    return {"source": SOURCE, "entity": ""}


RUNS = Kind(name=SOURCE, table="toa_run", extra="key", describe=_described)
"""Runs that are on their way."""


class Runs(StoredCalls):
    """The rows of `Run` that can go on."""

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        return self.kind.horizon(workflows(), since)

    def backlog(self) -> Backlog:
        """A run may have begun long ago: it waits since the moment that it could go on."""
        now = clock.clock().expression()
        names = workflows()
        soon = f"c.wake_at > {now} AND c.wake_at <= {now} + interval '{HOUR_MS} milliseconds'"
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(f"SELECT h.due FROM ({self.kind.horizon(names, None)[0]}) AS h", [names])
            oldest = cursor.fetchone()[0]
        return Backlog(
            waiting=count(of_each(self.kind, f"c.wake_at <= {now}"), [names]),
            oldest=None if oldest is None else to_moment(oldest),
            running=Count(0),
            within_hour=count(of_each(self.kind, soon), [names]),
            parked=count(of_each(self.kind, "c.failed_at IS NOT NULL"), [names]),
        )

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        return self._fire(workflows(), limit, dispatch)

    def _fire_all(self, found: Sequence[Live], docket: Docket | None, abandoned: Sequence[UUID]) -> Fired:
        return drive_all(self.kind, found, docket, abandoned)

    def waiting(self, endpoint: str) -> bool:
        """A run is not leased."""
        return False

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        """A run is not leased."""
        return False


class StepCalls(StoredCalls):
    """The rows of `RunCall`: effects alone."""

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        return self.kind.horizon(endpoints_of(OperationType.EFFECT), since)

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        return self._hint(endpoints_of(OperationType.EFFECT), limit, dispatch)


class Resting:
    """What becomes of a run that no code could go on with for too long: it rests, as after any failure."""

    def answered(self, live: Live, reply: Any, now: int) -> None:
        """A run ends by itself."""

    def failed(self, live: Live, error: BaseException, traceback: str, started: int, now: int) -> None:
        row = rows.claim(live.id, live.wake, live.attempt)
        if row is not None:
            fail(row, error)


SOURCES = (Runs(RUNS), StepCalls(CALLS))
