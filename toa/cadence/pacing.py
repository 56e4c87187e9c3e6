"""When to look again, and whether to send a tick: the rhythm that beat and `toa run` share."""

from __future__ import annotations

import time
from dataclasses import dataclass

from toa.cadence.source import BACKSTOP_MS, WAKE_LEAST_MS
from toa.cadence.sources import Horizon
from toa.runtime import clock


@dataclass(frozen=True, slots=True)
class Beat:
    """What to do after a look."""

    tick: bool
    """Whether work is due and a pass should be asked for."""
    wait_ms: int
    """How long to sleep from the moment of the look on, unless a hint comes."""
    then: frozenset[str] = frozenset()
    """Names of the sources of which something has come due when that sleep is over: no other look has to find it."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """A pass without a look."""

    first: int
    """From when on something is due by then."""
    moment: int
    sources: frozenset[str]


class Pacer:
    """Decides after each look at the horizon.

    What came due since the last tick gets a tick of its own, `least_ms` after that one at the earliest. For work that
    was due then already, no other is sent for 50 ms; where nothing of it gets done, doubling to a second: what is held
    by somebody is not worth a storm of ticks, and a backlog has passes that ask for one another.
    """

    def __init__(self, least_ms: int) -> None:
        self._least_ms = least_ms
        self._oldest: int | None = None
        self._newest: int | None = None
        self._sent_at: int | None = None
        self._patience_ms = WAKE_LEAST_MS
        self._next: _Pass | None = None
        """The pass that may be asked for at the end of the sleep."""
        self._asked: _Pass | None = None
        """The one that was asked for, as long as its moment has not come."""

    def look(self, seen: Horizon) -> Beat:
        """What to do about what was seen."""
        self._count_asked(seen.now)
        coming = BACKSTOP_MS if seen.coming is None else min(seen.coming - seen.now, BACKSTOP_MS)
        since = self._since_tick(seen.now)
        rest = max(self._least_ms - since, 0)
        if seen.due is None:
            self._oldest = self._newest = None
            return self._sleep(False, max(coming, rest), seen)
        fresh = self._is_fresh(seen)
        moved = seen.due != self._oldest
        if fresh and rest:
            return self._sleep(False, rest, seen, since=seen.due)
        if not fresh and since < self._patience_ms:
            return self._sleep(False, max(min(self._patience_ms - since, coming), rest), seen)
        self._patience_ms = WAKE_LEAST_MS if fresh or moved else min(self._patience_ms * 2, BACKSTOP_MS)
        self._oldest, self._newest, self._sent_at = seen.due, seen.newest, seen.now
        return self._sleep(True, max(self._least_ms, min(self._patience_ms, coming)), seen)

    def asked(self) -> int | None:
        """A pass is asked for without a look, for what is due when the sleep is over; that moment, epoch ms."""
        self._asked = self._next
        return None if self._asked is None else self._asked.moment

    def _count_asked(self, now: int) -> None:
        """A pass that was asked for without a look is the last tick once its moment has come."""
        if self._asked is not None and self._asked.moment <= now:
            first = self._asked.first
            self._oldest = first if self._oldest is None else min(self._oldest, first)
            self._newest = self._sent_at = self._asked.moment
            self._patience_ms = WAKE_LEAST_MS
            self._asked = None

    def _is_fresh(self, seen: Horizon) -> bool:
        """Whether something came due that the last tick was not for."""
        if self._oldest is None or self._newest is None or seen.due is None or seen.newest is None:
            return True
        return seen.newest > self._newest or seen.due < self._oldest

    def _sleep(self, tick: bool, wait_ms: int, seen: Horizon, *, since: int | None = None) -> Beat:
        """Sleep so long; `since` is when what is due was due first, where it is to have its tick at the end of that."""
        end, asked = seen.now + wait_ms, self._asked
        if asked is not None and end >= asked.moment and _coming(seen, asked.moment) <= asked.sources:
            return Beat(tick, asked.moment - seen.now)  # what comes due then has its pass already
        then = _coming(seen, end) if since is None else _coming(seen, end) | seen.sources
        first = seen.coming if since is None else since
        self._next = None if first is None else _Pass(first, end, then)
        return Beat(tick, wait_ms, then)

    def _since_tick(self, now: int) -> int:
        # A clock set back must not make the wait as long as the step.
        return BACKSTOP_MS if self._sent_at is None or now < self._sent_at else now - self._sent_at


def _coming(seen: Horizon, until: int) -> frozenset[str]:
    """The sources of which something comes due until a moment."""
    return frozenset(name for name, moment in seen.following.items() if moment <= until)


def wait_until(moment: int) -> None:
    """Sleep until a moment (epoch ms) by the database's clock; one that is far off is of another clock.

    Who looks then sees everything that was due at that moment.
    """
    left = moment - clock.clock().now()
    if left > WAKE_LEAST_MS:
        return
    end = time.monotonic() + left / 1000
    while left > 0 and time.monotonic() < end:
        # The clock tells whole ms: the last one of them is waited for in small steps.
        time.sleep(max(left - 1, 0.25) / 1000)
        left = moment - clock.clock().now()
