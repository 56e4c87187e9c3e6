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
    """How long to sleep from the moment of the look on, unless a hint comes."""
    then: frozenset[str] = frozenset()
    """Names of the sources of which something comes due just when that sleep is over: no other look has to find it."""


class Pacer:
    """Decides after each look at the horizon.

    What came due since the last tick gets a tick of its own. For work that was due then already, no other is sent for
    50 ms; where nothing of it gets done, doubling to a second: what is held by somebody is not worth a storm of ticks,
    and a backlog has passes that ask for one another.
    """

    def __init__(self) -> None:
        self._oldest: int | None = None
        self._newest: int | None = None
        self._coming: int | None = None
        self._sent_at: int | None = None
        self._patience_ms = WAKE_LEAST_MS

    def look(self, seen: Horizon) -> Beat:
        """What to do about what was seen."""
        self._coming = seen.coming
        coming = BACKSTOP_MS if seen.coming is None else min(seen.coming - seen.now, BACKSTOP_MS)
        if seen.due is None:
            self._oldest = self._newest = None
            return self._sleep(False, coming, seen)
        since = self._since_tick(seen.now)
        fresh = self._is_fresh(seen)
        moved = seen.due != self._oldest
        if fresh and since < TICK_LEAST_MS:
            return Beat(False, TICK_LEAST_MS - since)
        if not fresh and since < self._patience_ms:
            return self._sleep(False, min(self._patience_ms - since, coming), seen)
        self._patience_ms = WAKE_LEAST_MS if fresh or moved else min(self._patience_ms * 2, BACKSTOP_MS)
        self._oldest, self._newest, self._sent_at = seen.due, seen.newest, seen.now
        return self._sleep(True, max(TICK_LEAST_MS, min(self._patience_ms, coming)), seen)

    def reached(self) -> None:
        """A pass was asked for without a look, for what came due at the end of the sleep."""
        if self._coming is not None:
            self._oldest = self._coming if self._oldest is None else self._oldest
            self._newest = self._sent_at = self._coming
            self._patience_ms = WAKE_LEAST_MS

    def _is_fresh(self, seen: Horizon) -> bool:
        """Whether something came due that the last tick was not for."""
        if self._oldest is None or self._newest is None or seen.due is None or seen.newest is None:
            return True
        return seen.newest > self._newest or seen.due < self._oldest

    def _sleep(self, tick: bool, wait_ms: int, seen: Horizon) -> Beat:
        ends_then = seen.coming is not None and seen.now + wait_ms == seen.coming
        return Beat(tick, wait_ms, seen.following if ends_then else frozenset())

    def _since_tick(self, now: int) -> int:
        # A clock set back must not make the wait as long as the step.
        return BACKSTOP_MS if self._sent_at is None or now < self._sent_at else now - self._sent_at
