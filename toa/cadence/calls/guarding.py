"""Firing a batch so that no call can hold up the others: with limits on time, and evidence against what kills."""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from toa.cadence.calls.batches import by_component, divided, fire_set, object_of
from toa.cadence.calls.firing import fire
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import DIED, strike
from toa.cadence.calls.suspects import Docket
from toa.cadence.source import BACKSTOP_MS
from toa.core.allowance import Allowance, allowing
from toa.runtime import clock, settings

logger = logging.getLogger("toa.cadence")

FUNCTION_MS = 2_000
"""How long one function may take in a pass."""
FUNCTIONS_MS = 100
"""How long the functions of one step may take together before the rest is left to the next pass."""
PATIENT = 5
"""For how many objects that somebody holds a step waits at most, each for as long as `LOCK_TIMEOUT`."""


@dataclass(frozen=True, slots=True)
class Fired:
    """What became of a batch."""

    settled: frozenset[UUID]
    left: int
    """How many were not reached."""


def fire_all(kind: Kind, found: Sequence[Live], docket: Docket | None, abandoned: Sequence[UUID] = ()) -> Fired:
    """Fire what was found, oldest first: in sets where that is possible, else one by one.

    What has a strike, or stands accused of one because a process `abandoned` it, comes last and alone: the good ones
    are on time within the pass. Without a docket nothing is written down about what is being run: for tests, which run
    in one process.
    """
    among = docket.accused(abandoned) if docket is not None else {}
    suspect = _blameless_first([live for live in found if live.id in among or live.strikes], among)
    good = [live for live in found if live.id not in among and not live.strikes]
    settled: set[UUID] = set()
    reached: set[UUID] = set()
    with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
        alone = deque([*_in_sets(kind, good, docket, allowance, settled, reached), *suspect])
        while alone and not allowance.used_up:
            live = alone.popleft()
            reached.add(live.id)
            if _guarded(kind, live, docket, live.id in among):
                settled.add(live.id)
            elif alone and docket is not None:
                alone, elsewhere = _shared(kind, live, alone, docket, among)
                reached |= elsewhere
    return Fired(frozenset(settled), len(found) - len(reached | settled))


def _blameless_first(suspect: Sequence[Live], among: Mapping[UUID, bool]) -> list[Live]:
    """Suspects in the order to fire them: first those that a process died over `among` others, the last one first.

    What it was to run after the one that killed it is blameless, and is made before that one kills another process.
    What is for one object, or of one pair, stays in order.
    """
    turns: dict[Any, list[Live]] = {}
    for live in suspect:
        if among.get(live.id):
            turns.setdefault(live.pair or object_of(live) or live.id, []).append(live)
    return [live for turn in reversed(turns.values()) for live in turn] + [
        live for live in suspect if not among.get(live.id)
    ]


def _shared(
    kind: Kind, lost: Live, alone: deque[Live], docket: Docket, accused: Container[UUID]
) -> tuple[deque[Live], set[UUID]]:
    """What to go on with after a call that could not be had, and what others have of the rest.

    Where another process has that call, it walks the same list: the nearer half of what is left is its own. Those that
    are `accused` already stand in the docket of a process that is gone.
    """
    ids = [lost.id, *(live.id for live in alone)]
    elsewhere = set(ids) - kind.standing(ids) | {one for one in docket.accused(ids) if one not in accused}
    rest = [live for live in alone if live.id not in elsewhere]
    if lost.id in elsewhere:
        rest = rest[len(rest) // 2 :]
    return deque(rest), elsewhere


def _in_sets(
    kind: Kind,
    good: Sequence[Live],
    docket: Docket | None,
    allowance: Allowance,
    settled: set[UUID],
    reached: set[UUID],
) -> list[Live]:
    """Fire what can be fired in sets; returns what is to be fired alone, in order.

    A set of one is no set. What a set passed over because it was held is left to the next pass, and fired alone, with
    patience, once it is a second late and no other process is making it.
    """
    if not settings.get("SETWISE"):
        return list(good)
    now = clock.clock().now()
    fitting, alone = divided(good)
    for component, lives in by_component(fitting):
        if allowance.used_up:
            break
        if len(lives) == 1:
            alone += lives
            continue
        fired = fire_set(kind, component, lives, docket, allowance)
        settled |= fired.settled
        reached |= {live.id for live in fired.held}
        alone += fired.alone + _patiently(kind, [live for live in fired.held if now - live.wake >= BACKSTOP_MS])
    return sorted(alone, key=lambda live: (live.wake, live.id))


def _patiently(kind: Kind, late: Sequence[Live]) -> list[Live]:
    """Of calls that were passed over for long, those to be waited for in this step: whose object is held, and not the
    call itself, which another process makes then. Any of them, so that none waits for the others for ever."""
    free = kind.free(live.id for live in late) if late else set()
    waiting = [live for live in late if live.id in free]
    return random.sample(waiting, min(PATIENT, len(waiting)))


def _guarded(kind: Kind, live: Live, docket: Docket | None, accused: bool) -> bool:
    try:
        if docket is not None and accused and _convicted(kind, live, docket):
            return True
        return fire(kind, live, docket)
    except (OperationalError, InterfaceError):
        raise  # without the database there is no pass
    except Exception:
        # What went wrong could not even be recorded. The call stays due, and the others have their turn.
        logger.exception("%s could not be settled", live.endpoint, extra={"action": "not_settled", "call": live.id.hex})
        return False


def _convicted(kind: Kind, live: Live, docket: Docket) -> bool:
    """Count the strike of a call whose process died running it; true where it is a failure now."""
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        # Its row is free, and still somebody's docket names it: that process is gone.
        if not kind.claim(live) or not docket.accused([live.id]):
            return False
        docket.acquit(live.id)
        return strike(kind, live, DIED, now, now)
