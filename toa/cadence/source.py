"""The protocol of everything that can come due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

BACKSTOP_MS = 1_000
"""Beat looks by itself this often. What is at most this late counts as on time, and a lost hint costs this much."""

WAKE_LEAST_MS = 50
"""How soon a look that found only locked work is repeated."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Word that a leased call of an endpoint waits. Losing it costs a second: the call is in the database."""

    source: str
    endpoint: str


class Dispatch(Protocol):
    """Gets word to somebody who will act on it: by a broker, by a thread, or by the caller itself."""

    def hint(self, hint: Hint) -> None:
        """A leased call waits to be claimed and run."""
        ...

    def more(self) -> None:
        """There is more due than the step under way takes: another pass may start beside it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step did. `full` says that there may be more due now; `locked` that something due was held."""

    settled: int = 0
    full: bool = False
    locked: int = 0

    def __add__(self, other: Step) -> Step:
        return Step(
            settled=self.settled + other.settled,
            full=self.full or other.full,
            locked=self.locked + other.locked,
        )


class Source(Protocol):
    """A kind of due work: delays, deliveries, pulses, …"""

    name: str

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        """SQL with parameters that gives one row of three moments, each or null: the oldest that is due, the newest
        that is due, and the next to come. Where `since` is given, what is due before it may be left out."""
        ...

    def lower(self, moment: int) -> None:
        """Something that woke at this moment (epoch ms) was seen, though it should have been settled: look there."""
        ...

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        """Fire up to `limit` due calls that commit with their settlement; dispatch hints for leased ones."""
        ...

    def waiting(self, endpoint: str) -> bool:
        """Whether a leased call of the endpoint waits to be claimed now."""
        ...

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        """Claim the oldest waiting leased call of the endpoint and run it; false where there is none."""
        ...
