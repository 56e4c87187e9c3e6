"""The grid of a pulse: boundaries at exact distances from the Unix epoch, in whole milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from toa.core.duration import MAX_DURATION_MS, SECOND_MS, format_duration
from toa.exceptions import InvalidSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """`intervals` boundaries in each cycle of `cycle_ms` milliseconds, counted from the Unix epoch.

    Boundary k is at ceil(k x cycle_ms / intervals), in exact integers: the grid never drifts, and every
    process computes the same one. Moments before 1970 are on it too.

    Raises InvalidSchedule where two boundaries would be less than a second apart.
    """

    cycle_ms: int
    intervals: int = 1

    def __post_init__(self) -> None:
        for name, value in (("cycle", self.cycle_ms), ("intervals", self.intervals)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise InvalidSchedule(f"{name}: a whole number is needed, not {type(value).__name__}")
            if value < 1:
                raise InvalidSchedule(f"{name}: {value} is below 1")
        if self.cycle_ms > MAX_DURATION_MS:
            raise InvalidSchedule(f"cycle: {self.cycle_ms} ms is longer than {format_duration(MAX_DURATION_MS)}")
        if self.gap_ms < SECOND_MS:
            raise InvalidSchedule(
                f"cycle: {format_duration(self.cycle_ms)} in {self.intervals} intervals puts boundaries"
                f" {format_duration(self.gap_ms)} apart",
                hint="a second is the shortest gap",
            )

    @property
    def gap_ms(self) -> int:
        """The shortest distance between two boundaries, in ms. The longest is at most one ms more."""
        return self.cycle_ms // self.intervals

    @property
    def grace_ms(self) -> int:
        """How long after a boundary its call may still start, in ms; later it is missed."""
        return min(self.gap_ms // 2, 30 * SECOND_MS)

    def ordinal(self, now_ms: int) -> int:
        """The number of the latest boundary at or before a moment in epoch ms; that of the epoch is 0."""
        return now_ms * self.intervals // self.cycle_ms

    def boundary(self, ordinal: int) -> int:
        """The moment of boundary number `ordinal`, in epoch ms."""
        return -(-ordinal * self.cycle_ms // self.intervals)

    def next_after(self, after_ms: int) -> int:
        """The first boundary strictly after a moment, both in epoch ms."""
        return self.boundary(self.ordinal(after_ms) + 1)

    def input_of(self, ordinal: int) -> dict[str, int]:
        """The input of the call at boundary number `ordinal`: intervals in a cycle, and which one this is."""
        return {"n": self.intervals, "i": ordinal % self.intervals}
