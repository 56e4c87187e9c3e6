"""Runs, and the effects they wait for, as sources of due work."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.db import InterfaceError, OperationalError, connections, transaction

from toa.cadence.calls.due import StoredCalls, endpoints_of
from toa.cadence.calls.finding import full
from toa.cadence.calls.guarding import FUNCTION_MS, FUNCTIONS_MS
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.outcomes import sentence
from toa.cadence.calls.settling import DIED, STRIKES
from toa.cadence.calls.suspects import Docket, docket
from toa.cadence.reports.backlog import Backlog, Count, count, of_each
from toa.cadence.source import Dispatch, Step
from toa.core.allowance import Allowance, TookTooLong, allowing
from toa.core.clock import to_moment
from toa.core.duration import HOUR_MS
from toa.core.specs import OperationType
from toa.exceptions import StepFailed
from toa.runtime import clock, settings
from toa.workflow import rows, writing
from toa.workflow.driving import Driven, drive
from toa.workflow.ending import SOURCE, fail
from toa.workflow.performing import CALLS

logger = logging.getLogger("toa.workflow")


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
        endpoints = workflows()
        if not endpoints:
            return Step()
        now = clock.clock().now()
        found = self.kind.due(endpoints, limit, self._committed.since(now))
        last = full(found, limit)
        if last:
            dispatch.more()
        reached, left = _drive_all(found, docket())
        moved = [live for live, driven in reached if driven is Driven.MOVED]
        held = sum(driven is Driven.HELD for _, driven in reached)
        left += sum(driven is Driven.LEFT for _, driven in reached)
        done = {live.id for live in moved}
        self._committed.raised(
            now, [*(live.wake for live in found if live.id not in done), *(live.wake for live in last.values())]
        )
        return Step(settled=len(moved), full=bool(moved and last) or left > 0, locked=held)

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


def _drive_all(found: Sequence[Live], docket: Docket | None) -> tuple[list[tuple[Live, Driven]], int]:
    """Go on with what was found, oldest first; what has a strike, or stands accused of one, comes last. How far each
    was brought, and how many were not reached."""
    accused = docket.accused([live.id for live in found]) if docket is not None else {}
    reached: list[tuple[Live, Driven]] = []
    with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
        for live in sorted(found, key=lambda live: bool(live.strikes or live.id in accused)):
            if allowance.used_up:
                break
            reached.append((live, _guarded(live, docket, allowance, live.id in accused)))
    return reached, len(found) - len(reached)


def _guarded(live: Live, docket: Docket | None, allowance: Allowance, accused: bool) -> Driven:
    try:
        if docket is not None and accused and _convicted(live, docket):
            return Driven.MOVED
        return drive(live, docket, allowance)
    except TookTooLong as error:
        return _struck(live, str(error))
    except (OperationalError, InterfaceError):
        raise  # without the database there is no pass
    except Exception as error:
        # Neither did its step go well, nor could that be written down. Others have their turn.
        logger.exception("%s could not go on", live.endpoint, extra={"action": "not_settled", "call": live.id.hex})
        return _struck(live, sentence(error))


def _convicted(live: Live, docket: Docket) -> bool:
    """Count the strike of a run whose process died running it; true where it is a failure now."""
    with transaction.atomic(using=settings.alias()):
        # Its row is free, and still somebody's docket names it: that process is gone.
        row = rows.claim(live.id, live.wake, live.attempt)
        if row is None or not docket.accused([live.id]):
            return False
        docket.acquit(live.id)
        return _strike(row, DIED)


def _struck(live: Live, why: str) -> Driven:
    with transaction.atomic(using=settings.alias()):
        row = rows.claim(live.id, live.wake, live.attempt)
        return Driven.MOVED if row is not None and _strike(row, why) else Driven.HELD


def _strike(row: rows.Row, why: str) -> bool:
    if row.strikes + 1 >= STRIKES:
        fail(row, StepFailed(why))
        return True
    writing.count_strike(row)
    logger.warning(
        "%s %s, strike %d of %d",
        row.endpoint,
        why,
        row.strikes + 1,
        STRIKES,
        extra={"action": "strike", "call": row.id.hex, "entity": ""},
    )
    return False


class Resting:
    """What becomes of a run that no code could go on with for too long: it rests, as after any failure."""

    def answered(self, live: Live, reply: Any, now: int) -> None:
        """A run ends by itself."""

    def failed(self, live: Live, error: BaseException, traceback: str, started: int, now: int) -> None:
        row = rows.claim(live.id, live.wake, live.attempt)
        if row is not None:
            fail(row, error)


SOURCES = (Runs(RUNS), StepCalls(CALLS))
