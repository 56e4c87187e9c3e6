"""Going on with what was found so that no run can hold up the others: with limits on time, and evidence against what
kills."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from toa.cadence.calls.guarding import FUNCTION_MS, FUNCTIONS_MS, Fired
from toa.cadence.calls.live import Live
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


def drive_all(found: Sequence[Live], docket: Docket | None, abandoned: Sequence[UUID] = ()) -> Fired:
    """Go on with what was found, oldest first: in sets where that is possible, else one by one.

    What has a strike, or stands accused of one because a process `abandoned` it, comes last and alone.
    """
    among = docket.accused(abandoned) if docket is not None else {}
    good = [live for live in found if not live.strikes and live.id not in among]
    driven: dict[UUID, Driven] = {}
    with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
        alone = [*_in_sets(good, docket, allowance, driven), *_blameless_first(found, among)]
        for number, live in enumerate(alone):
            if number and allowance.used_up:  # one has its turn, however many go on in sets
                break
            driven[live.id] = _guarded(live, docket, allowance, live.id in among)
    moved = frozenset(identity for identity, how in driven.items() if how is Driven.MOVED)
    held = sum(how is Driven.HELD for how in driven.values())
    return Fired(moved, len(found) - len(moved) - held)


def _in_sets(
    good: Sequence[Live], docket: Docket | None, allowance: Allowance, driven: dict[UUID, Driven]
) -> list[Live]:
    """Go on with what can be gone on with together; returns what is to go on alone."""
    if len(good) < LEAST or not settings.get("SETWISE"):
        return list(good)
    with allowance.part(of=2):  # a set may be undone, and goes on one by one then
        done = drive_set(good[:MOST], docket, allowance)
    driven |= done.driven
    if done.slow is not None:
        # With a strike it goes on alone from now on; the others come with the next pass.
        live, why = done.slow
        driven[live.id] = _struck(live, why)
    return done.alone


def _blameless_first(found: Sequence[Live], accused: Mapping[UUID, bool]) -> list[Live]:
    """Those with a strike or an accusation. Those that a process died over among others come first, the last one of
    them foremost: what it was to run after the one that killed it is blameless."""
    among = [live for live in found if accused.get(live.id)]
    rest = [live for live in found if (live.strikes or live.id in accused) and not accused.get(live.id)]
    return among[::-1] + rest


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
