"""The test clock: it stands still, is advanced by hand, and on its way runs everything that comes due."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from toa.cadence.passes import run_until_idle
from toa.cadence.sources import horizon, lower
from toa.cadence.syncing import restart
from toa.core.clock import ManualClock
from toa.core.duration import format_duration, parse_duration
from toa.core.purity import watching
from toa.runtime import clock
from toa.testing.purity import pure

START = 1_767_614_400_000
"""Where the clock stands when a test begins: Monday 2026-01-05, 12:00 UTC, in epoch ms."""


class TestClock:
    """What a test does with time.

    Due work runs in the calling thread, on the test's own connection: inside the transaction of a `TestCase` as well
    as in a test that commits. Nothing runs by itself while the clock stands.
    """

    __test__ = False

    def __init__(self, manual: ManualClock) -> None:
        self._manual = manual

    @property
    def now(self) -> int:
        """The present moment in epoch ms."""
        return self._manual.now()

    def set(self, moment: int) -> None:
        """Put the clock to a moment (epoch ms) and run nothing: as if everything had been down until then."""
        self._manual.set(moment)

    def advance(self, duration: int | str) -> int:
        """Move on by ms or text ("72h"), running everything that comes due at its own moment, in time order.

        Returns how many calls were settled on the way. What is due at the end is done too.
        """
        return self.advance_to(self.now + parse_duration(duration))

    def advance_to(self, moment: int) -> int:
        """Move on to a moment (epoch ms), running everything that comes due on the way; see `advance`."""
        if moment < self.now:
            raise ValueError(f"the clock advances; to set it back by {format_duration(self.now - moment)} use set()")
        settled = self.run_until_idle()
        while True:
            due = horizon().next
            if due is None or due > max(moment, self.now):
                break
            self._manual.set(due)
            settled += self.run_until_idle()
        # What ran may have set the clock further on by itself.
        self._manual.set(max(moment, self.now))
        return settled

    def run_until_idle(self, limit: int = 10_000) -> int:
        """Run everything due now, and what that causes at once, without moving the clock; returns how many calls.

        Raises RuntimeError where that takes more than `limit` passes.
        """
        return run_until_idle(limit)


@contextmanager
def standing_clock(start: int = START) -> Iterator[TestClock]:
    """Put a manual clock in force, with every pulse and schedule counting from its start, and the purity guard."""
    manual = ManualClock(start)
    with clock.use(manual), watching(pure):
        restart(start)
        # A process that serves looks from where it was last: at another clock, and at rows that are gone.
        lower(0)
        yield TestClock(manual)


class ClockMixin:
    """For `django.test.TestCase`: `self.toa_clock`, fresh for each test."""

    toa_clock: TestClock

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]
        context = standing_clock()
        self.toa_clock = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)  # type: ignore[attr-defined]
