"""When to look again, and whether to send a tick: the rhythm that beat and `toa run` share."""

from __future__ import annotations

from dataclasses import dataclass

from toa.cadence.source import BACKSTOP_MS, WAKE_LEAST_MS


@dataclass(frozen=True, slots=True)
class Beat:
    """What to do after a look."""

    tick: bool
    """Whether work is due and a pass should be asked for."""
    wait_ms: int
    """How long to sleep, unless a hint comes."""


class Pacer:
    """Decides after each look at the earliest due moment.

    After a tick no other is sent for the same head for 50 ms, doubling to a second: what is due but held by somebody
    is not worth a storm of ticks.
    """

    def __init__(self) -> None:
        self._head: int | None = None
        self._sent_at = 0
        self._patience_ms = WAKE_LEAST_MS

    def look(self, due: int | None, now: int) -> Beat:
        """`due` is the earliest moment to look at, null where there is none; both are epoch ms."""
        if due is None or due > now:
            self._head = None
            return Beat(False, BACKSTOP_MS if due is None else min(due - now, BACKSTOP_MS))
        if due != self._head:
            self._patience_ms = WAKE_LEAST_MS
        else:
            # A clock set back would otherwise make the wait as long as the step.
            passed = max(0, now - self._sent_at)
            if passed < self._patience_ms:
                return Beat(False, min(self._patience_ms - passed, self._patience_ms))
            self._patience_ms = min(self._patience_ms * 2, BACKSTOP_MS)
        self._head, self._sent_at = due, now
        return Beat(True, self._patience_ms)
