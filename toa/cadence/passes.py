"""A pass: every source takes one bounded step."""

from __future__ import annotations

from collections.abc import Container

from toa.cadence.source import Dispatch, Hint, Step
from toa.cadence.sources import SOURCES, horizon, source

BATCH = 500
"""Calls that one step of one source fires at most."""


def run_pass(dispatch: Dispatch, limit: int = BATCH, *, only: Container[str] | None = None) -> Step:
    """Let every source fire what is due, up to `limit` each; says whether there may be more.

    `only` are the names of the sources that something is known to be due of; null: any.
    """
    done = Step()
    for one in SOURCES:
        if only is None or one.name in only:
            done += one.step(limit, dispatch)
    return done


def perform(hint: Hint, *, renew: bool = True) -> bool:
    """Claim and run the oldest waiting leased call that a hint tells of; false where somebody else has it."""
    return source(hint.source).perform(hint.endpoint, renew=renew)


class Collected:
    """A dispatch that keeps the hints for whoever made the pass."""

    def __init__(self) -> None:
        self.hints: list[Hint] = []

    def hint(self, hint: Hint) -> None:
        self.hints.append(hint)

    def more(self) -> None:
        """The same caller makes the next pass anyway."""


def run_until_idle(limit: int = 10_000) -> int:
    """Make passes in this thread, effects included, until nothing is due now; returns how many calls were settled.

    For tests and for the command line. Raises RuntimeError where `limit` passes were not enough: something comes due
    again and again.
    """
    settled = 0
    for _ in range(limit):
        seen = horizon()
        if seen.due is None:
            return settled
        waiting = Collected()
        step = run_pass(waiting, only=seen.sources)
        for hint in waiting.hints:
            perform(hint, renew=False)
        settled += step.settled
    raise RuntimeError(f"still not idle after {limit} passes: a call comes due again at once, every time")
