"""What an operator does about a stored call: take it back, give it another moment, have it made now."""

from __future__ import annotations

import logging
from uuid import UUID

from toa.runtime import arming, clock, delaying

logger = logging.getLogger("toa.cadence")

CANCEL = "toa.cancel_delay"
"""The permission to cancel."""
MOVE = "toa.move_delay"
"""The permission to move, and to have a call made now."""

CANCELLED = delaying.CANCELLED
MOVED = delaying.MOVED
FIRED = "fired"


def cancel(identity: UUID, by: str) -> str:
    """Take a stored call back. Once this answered `cancelled`, the call never begins.

    Else it answers why not, as `toa.delay.cancel` does. Raises NotFound for an id that was never issued or whose
    history is pruned, Conflict where the call was held for five seconds.
    """
    answer = delaying.cancel(identity, by=by)
    _log("cancel", identity, by, answer)
    return answer


def move(identity: UUID, by: str, *, interval: int | str | None = None, at: int | None = None) -> str:
    """Give a stored call another moment: `interval` from now (ms or text), or `at` (epoch ms).

    Its tries count afresh, its key stays. Answers `moved`, or why not; raises as `cancel` does, and InvalidInput or
    InvalidDuration for a moment that does not hold.
    """
    answer = delaying.move(identity, arming.due_moment(clock.clock().now(), interval, at), by=by)
    _log("move", identity, by, answer)
    return answer


def fire(identity: UUID, by: str) -> str:
    """Have a stored call made at the next pass: it is moved to now, so that nothing about it is late.

    Answers `fired`, or why not; raises as `cancel` does.
    """
    answer = delaying.move(identity, clock.clock().now(), by=by)
    answer = FIRED if answer == MOVED else answer
    _log("fire", identity, by, answer)
    return answer


def _log(action: str, identity: UUID, by: str, answer: str) -> None:
    logger.info(
        "%s of call %s, by %s: %s",
        action,
        identity.hex,
        by,
        answer,
        extra={"action": f"{action}_delay", "call": identity.hex, "by": by, "answer": answer},
    )
