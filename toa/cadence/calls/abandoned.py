"""Calls that a process died over: each has a strike for it, and is fired again apart from those that may have done it.

What stood alone in the docket of the process killed it, as far as anybody can tell. Of many that stood there together
one did, or none, where the process was ended from outside. Many are therefore fired in smaller sets, once: if it was
one of them, it takes few others with it, and what it took is fired alone from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction

from toa.cadence.calls.batches import object_of
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import DIED, strike
from toa.cadence.calls.suspects import Docket
from toa.runtime import clock, settings

logger = logging.getLogger("toa.cadence")

SHARE = 50
"""How many calls of a larger set that a process died over are tried again together; so few are fired one by one."""


def blameless_first(suspect: Sequence[Live], among: Mapping[UUID, bool]) -> list[Live]:
    """Suspects in the order to fire them: first those that a process died over `among` others, the last one first.

    What it was to run after the one that killed it is blameless, and is made before that one kills another process.
    What is for one object, or of one pair, stays in order.
    """
    return [live for turn in _turns(suspect, among) for live in turn] + [
        live for live in suspect if not among.get(live.id)
    ]


def shares(suspect: Sequence[Live], among: Mapping[UUID, bool]) -> list[list[Live]]:
    """The suspects that are fired in sets, in the order to fire these: what has no strike yet, where it is much.

    What is for one object, or of one pair, is in one of them.
    """
    fresh = [live for live in suspect if among.get(live.id) and not live.strikes]
    found: list[list[Live]] = []
    for turn in _turns(fresh, among) if len(fresh) > SHARE else []:
        if not found or len(found[-1]) + len(turn) > SHARE:
            found.append([])
        found[-1] += turn
    return found


def _turns(suspect: Sequence[Live], among: Mapping[UUID, bool]) -> list[list[Live]]:
    turns: dict[Any, list[Live]] = {}
    for live in suspect:
        if among.get(live.id):
            turns.setdefault(live.pair or object_of(live) or live.id, []).append(live)
    return list(reversed(turns.values()))


def convicted(kind: Kind, live: Live, docket: Docket) -> bool:
    """Count the strike of a call whose process died running it; true where it is a failure now."""
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        # Its row is free, and still somebody's docket names it: that process is gone.
        if not kind.claim(live) or not docket.accused([live.id]):
            return False
        docket.acquit(live.id)
        return strike(kind, live, DIED, now, now)


def convict_all(kind: Kind, lives: Sequence[Live], docket: Docket) -> list[Live]:
    """Count the first strike of calls that a process died over together, in one transaction; returns those that are
    for this process to fire: the others are held, gone, or had theirs counted by another process."""
    with transaction.atomic(using=settings.alias()):
        accused = docket.accused(sorted(kind.claim_many(lives)))
        mine = [replace(live, strikes=live.strikes + 1) for live in lives if live.id in accused]
        if mine:
            docket.acquit(*accused)
            kind.count_strike(*mine)
    if mine:
        logger.warning(
            "%d calls have a strike: a process %s with them in hand", len(mine), DIED, extra={"action": "strike"}
        )
    return mine
