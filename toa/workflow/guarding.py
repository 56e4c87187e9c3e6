"""Going on with what was found so that no run can hold up the others: with limits on time, and evidence against what
kills."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from toa.cadence.calls.abandoned import blameless_first, convict_all, shares
from toa.cadence.calls.guarding import FUNCTION_MS, FUNCTIONS_MS, Fired
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import DIED, STRIKES
from toa.cadence.calls.suspects import Docket
from toa.core.allowance import Allowance, TookTooLong, allowing
from toa.core.traces import sentence
from toa.exceptions import StepFailed
from toa.runtime import settings
from toa.workflow import rows, writing
from toa.workflow.driving import Driven, drive
from toa.workflow.ending import fail
from toa.workflow.sets import drive_set

logger = logging.getLogger("toa.workflow")

LEAST = 2
"""Fewer runs than this are no set."""
MOST = 500
"""Runs of one set; what is due beyond them comes with the next pass."""


def drive_all(kind: Kind, found: Sequence[Live], docket: Docket | None, abandoned: Sequence[UUID] = ()) -> Fired:
    """Go on with what was found, oldest first: in sets where that is possible, else one by one.

    What has a strike, or stands accused of one because a process `abandoned` it, comes last: alone, or, where a process
    died over many, in smaller sets first.
    """
    among = docket.accused(abandoned) if docket is not None else {}
    suspect = [live for live in found if live.strikes or live.id in among]
    good = [live for live in found if not live.strikes and live.id not in among]
    with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
        batch = _Batch(kind, docket, among, allowance)
        with allowance.part(of=2 if suspect else 1):
            batch.one_by_one(batch.in_sets(good[:MOST]), least=1)
        batch.one_by_one(blameless_first(batch.in_shares(suspect), among))
    moved = frozenset(identity for identity, how in batch.driven.items() if how is Driven.MOVED)
    held = sum(how is Driven.HELD for how in batch.driven.values())
    return Fired(moved, len(found) - len(moved) - held)


@dataclass(slots=True)
class _Batch:
    """What one step goes on with, and how far it is."""

    kind: Kind
    docket: Docket | None
    among: Mapping[UUID, bool]
    """Of runs that a process died over, whether it was about to go on with others as well."""
    allowance: Allowance
    driven: dict[UUID, Driven] = field(default_factory=dict)

    def in_sets(self, good: Sequence[Live]) -> list[Live]:
        """Go on with what can be gone on with together; returns what is to go on alone."""
        if len(good) < LEAST or not settings.get("SETWISE"):
            return list(good)
        with self.allowance.part(of=2):  # a set may be undone, and goes on one by one then
            return self._drive_set(good)

    def in_shares(self, suspect: Sequence[Live]) -> list[Live]:
        """Go on in smaller sets with what a process died over as one of many; returns what is to go on alone."""
        if self.docket is None or not settings.get("SETWISE"):
            return list(suspect)
        tried: set[UUID] = set()
        for share in shares(suspect, self.among):
            if self.allowance.used_up:
                break
            mine = convict_all(self.kind, share, self.docket)
            alone = {live.id for live in self._drive_set(mine)}
            tried |= {live.id for live in share} - alone
            # Not this process's: somebody else counted its strike, or has it.
            self.driven |= {live.id: Driven.HELD for live in share if live.id not in {one.id for one in mine}}
        return [live for live in suspect if live.id not in tried]

    def one_by_one(self, lives: Sequence[Live], least: int = 0) -> None:
        """Go on with each of these alone, however little time there is with `least` of them."""
        for number, live in enumerate(lives):
            if number >= least and self.allowance.used_up:
                break
            self.driven[live.id] = _guarded(live, self.docket, self.allowance, live.id in self.among)

    def _drive_set(self, lives: Sequence[Live]) -> list[Live]:
        done = drive_set(lives, self.docket, self.allowance)
        self.driven |= done.driven
        if done.slow is not None:
            # With a strike it goes on alone from now on; the others come with the next pass.
            live, why = done.slow
            self.driven[live.id] = _struck(live, why)
        return done.alone


def _guarded(live: Live, docket: Docket | None, allowance: Allowance, accused: bool) -> Driven:
    try:
        if docket is not None and accused and _convicted(live, docket):
            return Driven.MOVED
        return drive(live, docket, allowance)
    except TookTooLong as error:
        return _struck(live, str(error))
    except (OperationalError, InterfaceError):
        raise  # without the database there is no pass
    except Exception as error:
        # Neither did its step go well, nor could that be written down. Others have their turn.
        logger.exception("%s could not go on", live.endpoint, extra={"action": "not_settled", "call": live.id.hex})
        return _struck(live, sentence(error))


def _convicted(live: Live, docket: Docket) -> bool:
    """Count the strike of a run whose process died running it; true where it is a failure now."""
    with transaction.atomic(using=settings.alias()):
        # Its row is free, and still somebody's docket names it: that process is gone.
        row = rows.claim(live.id, live.wake, live.attempt)
        if row is None or not docket.accused([live.id]):
            return False
        docket.acquit(live.id)
        return _strike(row, DIED)


def _struck(live: Live, why: str) -> Driven:
    with transaction.atomic(using=settings.alias()):
        row = rows.claim(live.id, live.wake, live.attempt)
        return Driven.MOVED if row is not None and _strike(row, why) else Driven.HELD


def _strike(row: rows.Row, why: str) -> bool:
    if row.strikes + 1 >= STRIKES:
        fail(row, StepFailed(why))
        return True
    writing.count_strike(row)
    logger.warning(
        "%s %s, strike %d of %d",
        row.endpoint,
        why,
        row.strikes + 1,
        STRIKES,
        extra={"action": "strike", "call": row.id.hex, "entity": ""},
    )
    return False
