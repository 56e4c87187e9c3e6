"""The end of a run: it returned, was refused, was cancelled; or it failed, and waits for a person."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from toa.core.clock import to_datetime
from toa.core.error import Error
from toa.core.traces import sentence, trace
from toa.models import Failure, Outcome
from toa.runtime import bindings, clock, settings
from toa.runtime.deciding import checked_reply
from toa.runtime.journal import Settled, write_history
from toa.workflow import writing
from toa.workflow.entries import Answer, Journal, answered
from toa.workflow.pauses import Broken, Ended
from toa.workflow.rows import Row

logger = logging.getLogger("toa.workflow")

SOURCE = "run"
"""What runs are called in histories and failures."""


def end(row: Row, journal: Journal, how: Ended | Broken) -> None:
    """Write down what became of a locked run, in the open transaction."""
    if isinstance(how, Broken):
        _fail_here(row, journal, how.error, how.step)
        return
    now = clock.clock().now()
    if how.cancelled:
        close(row, journal, Outcome.CANCELLED, None, f"by {row.cancel_by}" if row.cancel_by else "", now)
        return
    try:
        outcome, value, code = concluded(row, how)
    except Exception as error:  # an undeclared Error, a result that does not fit or is no JSON
        _fail_here(row, journal, error, None)
        return
    close(row, journal, outcome, value, code, now)


def concluded(row: Row, how: Ended) -> tuple[Outcome, Any, str]:
    """How a run ended by itself, with its result as JSON, and the code of an Error. Raises what is wrong with its
    reply."""
    reply = checked_reply(bindings.operation(row.endpoint), how.reply)
    answer, value = answered(reply, "the result")
    if answer is Answer.ERROR:
        assert isinstance(reply, Error)
        return Outcome.REFUSED, value, reply.code
    return Outcome.MADE, value, ""


def close(row: Row, journal: Journal, outcome: Outcome, result: object, error: str, now: int) -> None:
    """Take a locked run away for good, and keep what became of it."""
    writing.remove(row, journal.items(), outcome, result, error, now)
    write_history([settled(row, outcome, error, now)])


def _fail_here(row: Row, journal: Journal, error: BaseException, step: int | None) -> None:
    writing.write_journal(row.id, journal)
    fail(replace(row, steps=len(journal), waits=None), error, step)


def fail(row: Row, error: BaseException, step: int | None = None) -> None:
    """Record a failure of a locked run and let the run rest. `step` is the position of the step that it goes back to,
    from which a retry goes on; without one a retry goes on from the end of the journal."""
    now = clock.clock().now()
    Failure.objects.using(settings.alias()).create(
        call=row.id,
        source=SOURCE,
        endpoint=row.endpoint,
        entity="",
        request=row.request,
        error=sentence(error),
        traceback=trace(error),
        attempts=1,
        due_at=to_datetime(row.due),
        at=to_datetime(now),
        row={"step": step, "chain": list(row.chain), "cause": row.cause},
    )
    writing.park(row, now)
    write_history([settled(row, Outcome.FAILED, sentence(error), now)])
    logger.error(
        "%s failed: %s", row.endpoint, sentence(error), extra={"action": "failure", "call": row.id.hex, "entity": ""}
    )


def settled(row: Row, outcome: Outcome, code: str, now: int) -> Settled:
    """The line of the history about the end of a run."""
    return Settled(
        call=row.id,
        source=SOURCE,
        endpoint=row.endpoint,
        outcome=outcome,
        code=code,
        due=row.due,
        at=now,
        # It may have gone on for weeks; late is what it began after.
        started=max(row.due, row.created),
        cause=row.cause,
    )
