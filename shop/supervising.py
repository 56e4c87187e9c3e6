"""Keeping processes alive: one that dies is started again, later each time, and said."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from shop.children import Child, end_all

FIRST_S, LONGEST_S = 1.0, 30.0
"""How long to wait before the first new start, and at most; doubled in between."""
STEADY_S = 60.0
"""A process that lived this long starts afresh."""


@dataclass(slots=True, kw_only=True)
class _Kept:
    start: Callable[[], Child]
    child: Child
    wait_s: float = FIRST_S
    again_at: float | None = None


@dataclass(slots=True, kw_only=True)
class Supervisor:
    """Processes that are to be there until `end`."""

    say: Callable[[str], None]
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def keep(self, name: str, start: Callable[[], Child]) -> Child:
        """Start a process, and again whenever it dies."""
        kept = self._kept[name] = _Kept(start=start, child=start())
        return kept.child

    def look(self) -> None:
        """Start again what is due to be, and notice what has died."""
        now = time.monotonic()
        for name, kept in self._kept.items():
            if kept.again_at is not None:
                if now >= kept.again_at:
                    kept.child, kept.again_at = kept.start(), None
            elif kept.child.is_over():
                lived = now - kept.child.started_at
                kept.wait_s = FIRST_S if lived >= STEADY_S else kept.wait_s
                self.say(
                    f"{name} ended by itself ({_ended(kept.child.end())}) after {lived:.0f} s; it starts again in"
                    f" {kept.wait_s:g} s. Its log: {kept.child.log}"
                )
                kept.again_at, kept.wait_s = now + kept.wait_s, min(kept.wait_s * 2, LONGEST_S)

    def end(self) -> None:
        """End them all; none is left."""
        end_all(kept.child for kept in self._kept.values())


def _ended(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"
