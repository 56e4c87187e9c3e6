"""Going on with runs set by set: those that are due together, in few transactions of few statements each.

A round is one transaction. Each function goes on in memory as far as it can; transitions that runs wait for are made
on their objects together; and all of it is written. A run that has more to do then is in the next round. What needs a
transaction of its own is left out, as it was found, to be gone on with alone: an end that was asked for, a failure, a
transition that is not for one object. Where the database refuses a statement, the round is rolled back,
and every run of it goes on alone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import DatabaseError

from toa.cadence.calls.decided import Undone
from toa.cadence.calls.live import Live
from toa.cadence.calls.suspects import Docket, deciding
from toa.core.allowance import Allowance, TookTooLong
from toa.exceptions import ToaError
from toa.workflow import rows
from toa.workflow.driving import Driven
from toa.workflow.entries import Journal
from toa.workflow.opening import opened
from toa.workflow.rounds import One, Round

logger = logging.getLogger("toa.workflow")

ROUNDS = 20
"""Transactions of one set at most; the rest comes with the next pass."""
MOST_STEPS = 5_000
"""Steps that the journals of a set hold together; a run with more of them goes on alone."""


@dataclass(slots=True, kw_only=True)
class DrivenSet:
    """What became of a set. What is in none of these was not reached."""

    driven: dict[UUID, Driven] = field(default_factory=dict)
    alone: list[Live] = field(default_factory=list)
    """To be gone on with alone, in order."""
    slow: tuple[Live, str] | None = None
    """The one that took too long, and the words for it: nothing of its round was written."""


def drive_set(lives: Sequence[Live], docket: Docket | None, allowance: Allowance) -> DrivenSet:
    """Go on with runs that are due, which are in order of time."""
    done = DrivenSet()
    under_way = [One(live) for live in lives]
    everyone = under_way
    try:
        for number in range(ROUNDS):
            if not under_way or (number and allowance.used_up):
                break
            under_way = _round(done, under_way, docket, allowance)
    finally:
        for one in everyone:
            one.close()
    return done


def _round(done: DrivenSet, under_way: Sequence[One], docket: Docket | None, allowance: Allowance) -> list[One]:
    """One transaction; returns those that could go on at once."""
    work = Round(allowance)
    try:
        with deciding(docket):
            ready = _claimed(done, under_way, docket, work)
            work.go(ready)
            work.write()
    except TookTooLong as error:
        assert work.running is not None
        done.slow = work.running.live, str(error)
        return []
    except Exception as error:
        # Gone on with one by one, each run tells of its own trouble; what is no refusal is told here too.
        if not isinstance(error, DatabaseError | ToaError | Undone):
            logger.exception("a set of runs could not go on", extra={"action": "set_undone"})
        done.alone += [one.live for one in under_way]
        return []
    done.driven |= work.driven
    done.alone += [one.live for one in under_way if one.live.id in work.alone]
    return work.committed()


def _claimed(done: DrivenSet, under_way: Sequence[One], docket: Docket | None, work: Round) -> list[One]:
    """Lock the runs and read what they have done; returns those that can be gone on with together."""
    found = rows.claim_many([(one.live, None if one.row is None else one.row.seq) for one in under_way])
    room = MOST_STEPS
    ready = []
    for one in under_way:
        row = found.get(one.live.id)
        if row is None:
            # Gone, or somebody else's by now; what was brought further before has moved all the same.
            done.driven.setdefault(one.live.id, Driven.HELD)
            continue
        room -= row.steps
        if room < 0 or row.cancel_at is not None or (row.waits is not None and row.waits.get("attempt")):
            work.alone.add(row.id)
            continue
        one.row = row
        ready.append(one)
    if docket is not None:
        docket.write([one.live.id for one in ready])
    new = [one for one in ready if one.machine is None]
    journals = rows.journals_of(one.locked for one in new)
    for one in new:
        try:
            one.machine = opened(one.locked, one.live.wake, journals.get(one.live.id, Journal()))
        except DatabaseError:
            raise
        except Exception:  # its code cannot be loaded, or does not take its input: told of where it goes on alone
            work.alone.add(one.live.id)
    return [one for one in ready if one.machine is not None]
