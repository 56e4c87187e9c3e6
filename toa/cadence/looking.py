"""Looking at the horizon again and again: from a watermark on, and once a second at everything."""

from __future__ import annotations

from toa.cadence.source import BACKSTOP_MS
from toa.cadence.sources import Horizon, horizon
from toa.cadence.watermark import TRAIL_MS


class Lookout:
    """The looks of one beat, or of one `toa run`."""

    def __init__(self) -> None:
        self._mark: int | None = None
        self._whole_at: int | None = None
        self.late: int | None = None
        """The oldest due moment, where the last look found one that was behind the watermark; epoch ms."""

    def look(self) -> Horizon:
        """What is due and what comes next."""
        whole = self._mark is None or self._whole_at is None
        seen = horizon(None if whole else self._mark)
        if not whole and (seen.now - (self._whole_at or 0) >= BACKSTOP_MS or seen.now < (self._whole_at or 0)):
            seen, whole = horizon(), True
        if whole:
            self._whole_at = seen.now
        behind = whole and self._mark is not None and seen.due is not None and seen.due < self._mark
        self.late = seen.due if behind else None
        self._mark = min(seen.now - TRAIL_MS, seen.now if seen.due is None else seen.due)
        return seen
