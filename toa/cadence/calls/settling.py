"""What becomes of a stored call: made, refused, tried again, failed. One transaction decides it."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.outcomes import back_off_ms, is_transient
from toa.core.clock import to_datetime
from toa.core.error import Error
from toa.core.specs import OperationSpec
from toa.core.traces import sentence, trace
from toa.exceptions import StepFailed
from toa.models import Failure, Outcome
from toa.runtime import settings
from toa.runtime.journal import Settled, write_history
from toa.runtime.sending import flush
from toa.runtime.swept import is_swept, told

logger = logging.getLogger("toa.cadence")

ATTEMPTS = 3
"""Tries of a call whose operation does not say otherwise."""
STRIKES = 3
"""How often a call may take its process with it, or its time, before it is a failure."""
DIED = "the process died running it"


class Waiting(Protocol):
    """Who waits for what becomes of the calls of a kind. Told in the transaction that decides it."""

    def answered(self, live: Live, reply: Any, now: int) -> None:
        """The call was made; its row is gone. The reply may be an Error."""
        ...

    def failed(self, live: Live, error: BaseException, traceback: str, started: int, now: int) -> None:
        """There is no further try. What becomes of the row, and of its history, is theirs to decide."""
        ...


_WAITING: dict[str, Waiting] = {}


def tell(kind: str, waiting: Waiting) -> None:
    """Have somebody told of every call of the kind of that name."""
    _WAITING[kind] = waiting


def settle(kind: Kind, live: Live, outcome: Outcome, code: str, started: int, now: int) -> None:
    """Take the row away and write its line of history, in the open transaction, which holds the row."""
    kind.remove(live)
    write_history([line(live, outcome, code, started, now)])


def settle_reply(kind: Kind, live: Live, reply: Any, started: int, now: int) -> Outcome:
    """Settle by what the operation replied: an Error is an answer, not a failure."""
    if isinstance(reply, Error):
        outcome, code = Outcome.REFUSED, reply.code
    else:
        outcome, code = Outcome.MADE, told(reply) if live.source == "schedule" and is_swept(reply) else ""
    settle(kind, live, outcome, code, started, now)
    if (waits := _WAITING.get(kind.name)) is not None:
        flush()
        waits.answered(live, reply, now)
    return outcome


def settle_error(
    kind: Kind, live: Live, error: BaseException, operation: OperationSpec | None, started: int, now: int
) -> Outcome | None:
    """Another try after a back-off where the error is transient and tries are left, else a failure."""
    attempt = live.attempt + 1
    if is_transient(error, operation) and attempt < (operation.attempts if operation else ATTEMPTS):
        why = sentence(error)
        kind.postpone(live, now + back_off_ms(attempt), attempt, why)
        logger.info("%s is tried again after %s", live.endpoint, why, extra={"action": "retry", "call": live.id.hex})
        return None
    fail(kind, live, sentence(error), trace(error), started, now, error)
    return Outcome.FAILED


def strike(kind: Kind, live: Live, why: str, started: int, now: int) -> bool:
    """Count a strike against a call that the open transaction holds; true where it was the last one it has."""
    if live.strikes + 1 >= STRIKES:
        fail(kind, live, why, "", started, now)
        return True
    kind.count_strike(live)
    logger.warning(
        "%s %s, strike %d of %d",
        live.endpoint,
        why,
        live.strikes + 1,
        STRIKES,
        extra={"action": "strike", "call": live.id.hex, "entity": live.entity},
    )
    return False


def fail(
    kind: Kind,
    live: Live,
    error: str,
    traceback: str,
    started: int,
    now: int,
    raised: BaseException | None = None,
) -> None:
    """Record a failure and take the row away, or park it where others have to wait behind it. Where somebody waits for
    what becomes of the call, they are told instead."""
    attempt = live.attempt + 1
    if (waits := _WAITING.get(kind.name)) is not None:
        waits.failed(live, raised or StepFailed(error), traceback, started, now)
        return
    Failure.objects.using(settings.alias()).create(
        call=live.id,
        source=live.source,
        endpoint=live.endpoint,
        entity=live.entity,
        request=live.request,
        error=error,
        traceback=traceback,
        attempts=attempt,
        due_at=to_datetime(live.due),
        at=to_datetime(now),
        row={"chain": list(live.chain), "cause": live.cause, "overdue": live.overdue, "mark": live.mark},
    )
    if kind.parks:
        kind.postpone(live, None, attempt)
    else:
        kind.remove(live)
    write_history([line(live, Outcome.FAILED, error, started, now)])
    logger.error(
        "%s failed: %s", live.endpoint, error, extra={"action": "failure", "call": live.id.hex, "entity": live.entity}
    )


def line(live: Live, outcome: Outcome, code: str, started: int | None, now: int) -> Settled:
    """The line of history of a settled call."""
    return Settled(
        call=live.id,
        source=live.source,
        endpoint=live.endpoint,
        entity=live.entity,
        outcome=outcome,
        code=code,
        due=live.due,
        at=now,
        started=started,
        attempt=live.attempt + 1,
        cause=live.cause,
        request=live.request if live.source == "delivery" else None,
    )
