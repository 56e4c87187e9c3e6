"""Where a look at an index may start: everything older is settled.

Rows that were settled stay in the index as dead entries for as long as some old snapshot is open, and a look that
starts at the head walks over all of them. The watermark trails by five seconds and never passes what was seen and not
settled. A transaction that commits later than that is found by beat's look without a watermark, once a second.
"""

from __future__ import annotations

from collections.abc import Iterable

from toa.cadence.serving import serves

TRAIL_MS = 5_000
"""How far the watermark stays behind now."""


class Watermark:
    """The mark of one process, for one kind of call."""

    def __init__(self) -> None:
        self._at: int | None = None

    def since(self, now: int) -> int | None:
        """From which moment (epoch ms) on to look; null: from the beginning."""
        if self._at is not None and self._at > now - TRAIL_MS:
            self._at = now - TRAIL_MS  # the clock was set back
        return self._at if serves() else None

    def lower(self, moment: int) -> None:
        """Something older was seen: start there."""
        if self._at is not None:
            self._at = min(self._at, moment)

    def raised(self, now: int, left: Iterable[int]) -> None:
        """Everything up to now was seen; what is left to settle has these wake moments."""
        self._at = min((*left, now - TRAIL_MS))
