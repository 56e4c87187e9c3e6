"""Firing a batch so that no call can hold up the others: with limits on time, and evidence against what kills."""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import InterfaceError, OperationalError

from toa.cadence.calls.abandoned import blameless_first, convict_all, convicted, shares
from toa.cadence.calls.batches import FiredSet, by_component, divided, fire_set
from toa.cadence.calls.firing import fire
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.suspects import Docket
from toa.cadence.source import BACKSTOP_MS
from toa.core.allowance import Allowance, allowing
from toa.runtime import clock, settings
from toa.runtime.bindings import Component

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

    What has a strike, or stands accused of one because a process `abandoned` it, comes last: the good ones are on time
    within the pass. It is fired alone, or, where a process died over many, in smaller sets first. Without a docket
    nothing is written down about what is being run: for tests, which run in one process.
    """
    among = docket.accused(abandoned) if docket is not None else {}
    suspect = [live for live in found if live.id in among or live.strikes]
    good = [live for live in found if live.id not in among and not live.strikes]
    with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
        batch = _Batch(kind, docket, among, allowance)
        with allowance.part(of=2 if suspect else 1):
            batch.one_by_one(batch.in_sets(good), least=1)
        batch.one_by_one(blameless_first(batch.in_shares(suspect), among))
    return Fired(frozenset(batch.settled), len(found) - len(batch.reached | batch.settled))


@dataclass(slots=True)
class _Batch:
    """What one step fires, and how far it is."""

    kind: Kind
    docket: Docket | None
    among: Mapping[UUID, bool]
    """Of calls that a process died over, whether it was about to run others as well."""
    allowance: Allowance
    settled: set[UUID] = field(default_factory=set)
    reached: set[UUID] = field(default_factory=set)

    def in_sets(self, good: Sequence[Live]) -> list[Live]:
        """Fire what can be fired in sets; returns what is to be fired alone, in order.

        A set of one is no set. What a set passed over because it was held is left to the next pass, and fired alone,
        with patience, once it is a second late and no other process is making it.
        """
        if not settings.get("SETWISE"):
            return list(good)
        now = clock.clock().now()
        fitting, alone = divided(good)
        sets = by_component(fitting)
        for number, (component, lives) in enumerate(sets):
            if len(lives) == 1:
                alone += lives
                continue
            # Something is left for the other sets, and for what goes alone: a set may be undone.
            with self.allowance.part(of=len(sets) - number + 1):
                fired = self._fire_set(component, lives)
            late = [live for live in fired.held if now - live.wake >= BACKSTOP_MS]
            alone += fired.alone + _patiently(self.kind, late)
        return sorted(alone, key=lambda live: (live.wake, live.id))

    def in_shares(self, suspect: Sequence[Live]) -> list[Live]:
        """Fire what a process died over as one of many in smaller sets; returns what is to be fired alone, in order."""
        if self.docket is None or not settings.get("SETWISE"):
            return list(suspect)
        tried: set[UUID] = set()
        for share in shares(suspect, self.among):
            for component, lives in by_component(divided(share)[0]):
                if self.allowance.used_up:
                    break
                mine = convict_all(self.kind, lives, self.docket)
                elsewhere = {live.id for live in lives} - {live.id for live in mine}
                fired = self._fire_set(component, mine) if mine else FiredSet()
                self.reached |= elsewhere
                tried |= elsewhere | fired.settled | {live.id for live in fired.held}
        return [live for live in suspect if live.id not in tried]

    def one_by_one(self, lives: Sequence[Live], least: int = 0) -> None:
        """Fire each of these in a transaction of its own, however little time there is `least` of them; the accused
        are convicted first."""
        alone = deque(lives)
        while alone and (least > 0 or not self.allowance.used_up):
            live = alone.popleft()
            least -= 1
            self.reached.add(live.id)
            if _guarded(self.kind, live, self.docket, live.id in self.among):
                self.settled.add(live.id)
            elif alone and self.docket is not None:
                alone, elsewhere = _shared(self.kind, live, alone, self.docket, self.among)
                self.reached |= elsewhere

    def _fire_set(self, component: Component, lives: Sequence[Live]) -> FiredSet:
        fired = fire_set(self.kind, component, lives, self.docket, self.allowance)
        self.settled |= fired.settled
        self.reached |= {live.id for live in fired.held}
        return fired


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


def _patiently(kind: Kind, late: Sequence[Live]) -> list[Live]:
    """Of calls that were passed over for long, those to be waited for in this step: whose object is held, and not the
    call itself, which another process makes then. Any of them, so that none waits for the others for ever."""
    free = kind.free(live.id for live in late) if late else set()
    waiting = [live for live in late if live.id in free]
    return random.sample(waiting, min(PATIENT, len(waiting)))


def _guarded(kind: Kind, live: Live, docket: Docket | None, accused: bool) -> bool:
    try:
        if docket is not None and accused and convicted(kind, live, docket):
            return True
        return fire(kind, live, docket)
    except (OperationalError, InterfaceError):
        raise  # without the database there is no pass
    except Exception:
        # What went wrong could not even be recorded. The call stays due, and the others have their turn.
        logger.exception("%s could not be settled", live.endpoint, extra={"action": "not_settled", "call": live.id.hex})
        return False
