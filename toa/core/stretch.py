"""What a schedule does while a zone's offset stays the same, and at the change that opened that time.

Within a stretch, local time is the moment plus the offset. All that is special happens at its start, and only
for schedules that name hours:

- The clocks went forward. The local times skipped belong to the stretch, by the schedule's `gap`: one tick at
  the end of the gap, each as far after the change as it lay after the gap's start, or none.
- The clocks went back. The local times shown a second time are left out, unless `fold` is `both`.

A schedule that follows real time ticks whenever the clock on the wall shows a time that it names, and needs
no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toa.core.cron import Cron
from toa.core.zones import Change

Gap = Literal["end", "shift", "skip"]
Fold = Literal["first", "both"]


class Look:
    """Answers where a cron expression's nearest local times are, asking it once for each empty stretch.

    Several changes of a zone may lie before the next 29 February; none of them makes the search start over.
    """

    __slots__ = ("_back", "_cron", "_forth")

    def __init__(self, cron: Cron) -> None:
        self._cron = cron
        # (from, to): between the two, bounds included, only the far end is named.
        self._forth: tuple[int, int] | None = None
        self._back: tuple[int, int] | None = None

    def first_from(self, local: int) -> int:
        if self._forth is None or not self._forth[0] <= local <= self._forth[1]:
            self._forth = (local, self._cron.first_from(local))
        return self._forth[1]

    def last_until(self, local: int) -> int:
        if self._back is None or not self._back[1] <= local <= self._back[0]:
            self._back = (local, self._cron.last_until(local))
        return self._back[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A schedule's ticks from a change of its zone on, in epoch seconds. Where it ends, the caller knows."""

    cron: Cron
    look: Look
    change: Change
    gap: Gap
    fold: Fold

    def first_from(self, at: int) -> int:
        """The first tick at or after a moment, which is not before the change."""
        opening, before, offset = self.change.at, self.change.before, self.change.after
        tick = self.look.first_from(max(at + offset, self._shown_first)) - offset
        if self._makes_up and self.gap == "end":
            return opening if at == opening and self._skipped_any else tick
        if self._makes_up:
            skipped = self.look.first_from(at + before)
            return min(tick, skipped - before) if skipped < self._shown_from else tick
        return tick

    def last_until(self, at: int) -> int | None:
        """The last tick at or before a moment, which is not before the change; None when none came since."""
        opening, before, offset = self.change.at, self.change.before, self.change.after
        local = self.look.last_until(at + offset)
        ticks = [local - offset] if local >= self._shown_first else []
        if self._makes_up and self.gap == "end" and self._skipped_any:
            ticks.append(opening)
        if self._makes_up and self.gap == "shift":
            skipped = self.look.last_until(min(at + before, self._shown_from - 1))
            if skipped >= opening + before:
                ticks.append(skipped - before)
        return max(ticks, default=None)

    def count(self, start: int, stop: int) -> int:
        """How many ticks there are from `start`, not before the change, up to and not including `stop`."""
        offset = self.change.after
        total = self.cron.count(max(start + offset, self._shown_first), stop + offset)
        if not self._makes_up:
            return total
        if self.gap == "end":
            return total + (start == self.change.at and self._skipped_any and not self.cron.names(self._shown_from))
        before = self.change.before
        # A time skipped may be put where a time of its own stands: one tick.
        moved = offset - before
        skipped = range(start + before, min(stop + before, self._shown_from))
        return total + sum(self.cron.names(local) and not self.cron.names(local + moved) for local in skipped)

    @property
    def _shown_from(self) -> int:
        """The local time on the wall at the change, after it."""
        return self.change.at + self.change.after

    @property
    def _shown_first(self) -> int:
        """The first local time that ticks here without a rule for the gap."""
        if self.cron.fixed and self.fold == "first":
            return self.change.at + max(self.change.before, self.change.after)
        return self._shown_from

    @property
    def _makes_up(self) -> bool:
        return self.cron.fixed and self.gap != "skip" and self.change.after > self.change.before

    @property
    def _skipped_any(self) -> bool:
        return self.look.first_from(self.change.at + self.change.before) < self._shown_from
