"""When to look again, and whether to send a tick: the rhythm that beat and `toa run` share."""

from __future__ import annotations

from dataclasses import dataclass

from toa.cadence.source import BACKSTOP_MS, TICK_LEAST_MS, WAKE_LEAST_MS
from toa.cadence.sources import Horizon


@dataclass(frozen=True, slots=True)
class Beat:
    """What to do after a look."""

    tick: bool
    """Whether work is due and a pass should be asked for."""
    wait_ms: int
    """How long to sleep, unless a hint comes."""


class Pacer:
    """Decides after each look at the horizon.

    What came due since the last tick gets a tick of its own. For work that was due then already, no other is sent for
    50 ms, doubling to a second: what is held by somebody is not worth a storm of ticks.
    """

    def __init__(self) -> None:
        self._oldest: int | None = None
        self._newest: int | None = None
        self._sent_at: int | None = None
        self._patience_ms = WAKE_LEAST_MS

    def look(self, seen: Horizon) -> Beat:
        """What to do about what was seen."""
        coming = BACKSTOP_MS if seen.coming is None else min(seen.coming - seen.now, BACKSTOP_MS)
        if seen.due is None:
            self._oldest = self._newest = None
            return Beat(False, coming)
        since = self._since_tick(seen.now)
        fresh = (seen.due, seen.newest) != (self._oldest, self._newest)
        if fresh and since < TICK_LEAST_MS:
            return Beat(False, TICK_LEAST_MS - since)
        if not fresh and since < self._patience_ms:
            return Beat(False, min(self._patience_ms - since, coming))
        self._patience_ms = WAKE_LEAST_MS if fresh else min(self._patience_ms * 2, BACKSTOP_MS)
        self._oldest, self._newest, self._sent_at = seen.due, seen.newest, seen.now
        return Beat(True, max(TICK_LEAST_MS, min(self._patience_ms, coming)))

    def _since_tick(self, now: int) -> int:
        # A clock set back must not make the wait as long as the step.
        return BACKSTOP_MS if self._sent_at is None or now < self._sent_at else now - self._sent_at
