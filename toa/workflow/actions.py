"""What a person does about a run: cancel it; have a failed one go on from the step that failed, or let it go."""

from __future__ import annotations

import logging
from dataclasses import replace
from uuid import UUID

from django.db import connections, transaction

from toa.cadence.actions import failures
from toa.core.clock import to_datetime
from toa.exceptions import Conflict, NotFound
from toa.models import EndedRun, Failure, Outcome
from toa.runtime import clock, settings, waking
from toa.workflow import rows, writing
from toa.workflow.ending import SOURCE, close

logger = logging.getLogger("toa.workflow")

START = "toa.start_run"
"""The permission to start a run."""
CANCEL = "toa.cancel_run"
"""The permission to cancel a run. To retry or discard a failed one takes those of failures."""

CANCELLED = "cancelled"
CANCELLING = "being cancelled"

_ASK = "UPDATE toa_run SET cancel_at = %s, cancel_by = %s, wake_at = %s, seq = seq + 1 WHERE id = %s"
_CUT = "DELETE FROM toa_runstep WHERE run = %s AND position >= %s"
_RESUME = """
UPDATE toa_run SET wake_at = %s, failed_at = NULL, seq = seq + 1, attempt = 0, strikes = 0, waits = %s,
       steps = (SELECT count(*) FROM toa_runstep s WHERE s.run = toa_run.id)
 WHERE id = %s
"""


def cancel(identity: UUID, by: str = "") -> str:
    """Ask for the end of a run; `by` names who asks.

    Answers `cancelled` where it had not begun or had failed; `being cancelled` where its function is told: at its next
    wait `toa.Cancelled` is raised in it, its `finally` blocks run, for at most a minute, and an effect that it waits
    for loses its lease. Asked again it answers the same and changes nothing. Of a run that has ended it answers what
    became of it. Raises NotFound where there is none, Busy where a failed run's effect is being settled right now.
    """
    now = clock.clock().now()
    moment = to_datetime(now)
    with transaction.atomic(using=settings.alias()):
        row = rows.hold(identity)
        if row is None:
            return _ended(identity)
        if row.failed_at is not None or (row.seq == 0 and row.cancel_at is None):
            Failure.objects.using(settings.alias()).filter(call=identity, source=SOURCE).delete()
            writing.withdraw(identity)
            journal = rows.journal_of(row)
            close(replace(row, cancel_by=by), journal, Outcome.CANCELLED, None, f"by {by}" if by else "", now)
            answer = CANCELLED
        else:
            answer = CANCELLING
            if row.cancel_at is None:
                with connections[settings.alias()].cursor() as cursor:
                    cursor.execute(_ASK, [moment, by[:150], moment, identity])
                waking.after_commit(moment, moment)
    logger.info(
        "cancel: run of %s, by %s: %s",
        row.endpoint,
        by or "code",
        answer,
        extra={"action": "cancel", "call": identity.hex, "by": by},
    )
    return answer


def retry(identity: UUID, by: str = "") -> str:
    """Have a failed run go on from the step that failed; see `toa.cadence.actions.failures.retry`.

    Raises NotFound where the run has no failure that waits for a decision.
    """
    return failures.retry(_failure_of(identity), by)


def discard(identity: UUID, by: str = "") -> str:
    """Let a failed run go. Raises NotFound where it has no failure that waits for a decision."""
    return failures.discard(_failure_of(identity), by)


class Decided:
    """What retry and discard of a failure mean for the run that it stopped."""

    def requeue(self, failure: Failure, by: str, now: int) -> str:
        row = rows.hold(failure.call)
        if row is None or row.failed_at is None:
            raise Conflict(f"the run of failure {failure.id.hex} is gone; discard the failure")
        step = failure.row.get("step")
        with connections[settings.alias()].cursor() as cursor:
            if step is not None:
                cursor.execute(_CUT, [row.id, step])
            cursor.execute(_RESUME, [to_datetime(now), writing.json(row.waits), row.id])
        return failures.AGAIN

    def let_go(self, failure: Failure, by: str, code: str, now: int) -> None:
        row = rows.hold(failure.call)
        if row is not None:
            writing.withdraw(row.id)
            error = f"{failure.error}; {code}, by {by}"
            writing.remove(row, rows.journal_of(row).items(), Outcome.FAILED, None, error, now)


def _ended(identity: UUID) -> str:
    ended = EndedRun.objects.using(settings.alias()).filter(id=identity).first()
    if ended is None:
        raise NotFound(f"no run {identity.hex} is known; it was never started, or its record is pruned")
    return {Outcome.CANCELLED.value: "already cancelled", Outcome.MADE.value: "already made"}.get(
        ended.outcome, ended.outcome
    )


def _failure_of(identity: UUID) -> UUID:
    found = Failure.objects.using(settings.alias()).filter(call=identity, source=SOURCE).order_by("-at").first()
    if found is None:
        raise NotFound(f"no run {identity.hex} waits for a decision")
    return found.id
