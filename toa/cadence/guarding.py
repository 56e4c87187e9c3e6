"""Firing a batch so that no call can hold up the others: with limits on time, and evidence against what kills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from toa.cadence.firing import fire
from toa.cadence.live import Kind, Live
from toa.cadence.settling import DIED, strike
from toa.cadence.suspects import Docket
from toa.core.allowance import Allowance, allowing
from toa.runtime import clock, settings

FUNCTION_MS = 2_000
"""How long one function may take in a pass."""
FUNCTIONS_MS = 100
"""How long the functions of one step may take together before the rest is left to the next pass."""


@dataclass(frozen=True, slots=True)
class Fired:
    """What became of a batch."""

    settled: frozenset[UUID]
    left: int
    """How many were not reached."""


def fire_all(kind: Kind, found: Sequence[Live], docket: Docket | None) -> Fired:
    """Fire what was found, oldest first.

    What has a strike, or stands accused of one, comes last: the good ones are on time within the pass. Without a
    docket nothing is written down about what is being run: for tests, which run in one process.
    """
    accused = docket.accused([live.id for live in found]) if docket is not None else set()
    settled: set[UUID] = set()
    with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
        ordered = sorted(found, key=lambda live: live.id in accused or live.strikes > 0)
        for done, live in enumerate(ordered):
            if allowance.used_up:
                return Fired(frozenset(settled), len(ordered) - done)
            if _guarded(kind, live, docket, live.id in accused):
                settled.add(live.id)
    return Fired(frozenset(settled), 0)


def _guarded(kind: Kind, live: Live, docket: Docket | None, accused: bool) -> bool:
    if docket is not None and accused and _convicted(kind, live, docket):
        return True
    return fire(kind, live, docket)


def _convicted(kind: Kind, live: Live, docket: Docket) -> bool:
    """Count the strike of a call whose process died running it; true where it is a failure now."""
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        # Its row is free, and still somebody's docket names it: that process is gone.
        if not kind.claim(live) or not docket.accused([live.id]):
            return False
        docket.acquit(live.id)
        return strike(kind, live, DIED, now, now)
