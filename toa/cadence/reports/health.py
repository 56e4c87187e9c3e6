"""Whether all is well, in one sentence, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from toa.cadence.processes import STAND_DOWN_MS, WARN_MS
from toa.cadence.reports.backlog import Count
from toa.cadence.reports.status import Status
from toa.core.duration import MINUTE_MS, SECOND_MS, format_duration

LATE_MS = MINUTE_MS
"""From when on it is said that due work waits, in ms."""

START_BEAT = "start `celery -A PROJECT beat -S toa.beat:CadenceScheduler`, or `manage.py toa run`"
START_WORKER = "start `celery -A PROJECT worker -Q toa,toa.calls`, or `manage.py toa run`"


class Level(Enum):
    """How well it is; the value is what scripts read."""

    OK = "ok"
    DEGRADED = "degraded"
    """Something is late, or waits for a person."""
    DOWN = "down"
    """Nothing is made."""

    @property
    def exit_code(self) -> int:
        """Of `toa status`: 0, 1, 2."""
        return list(Level).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that is not well, and what to start or to do."""

    level: Level
    what: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The judgement."""

    level: Level
    sentence: str
    problems: tuple[Problem, ...]
    """The worst first."""


def judge(status: Status) -> Health:
    """What the facts amount to."""
    problems = tuple(sorted(_problems(status), key=lambda problem: -problem.level.exit_code))
    if not problems:
        return Health(level=Level.OK, sentence=f"All is well: {_crew(status)}, nothing is late.", problems=())
    worst = problems[0]
    rest = f" {len(problems) - 1} more below." if len(problems) > 1 else ""
    sentence = f"{worst.level.value.capitalize()}: {worst.what}; {worst.advice}.{rest}"
    return Health(level=worst.level, sentence=sentence, problems=problems)


def _problems(status: Status) -> Iterator[Problem]:
    yield from _crew_problems(status)
    for source in status.sources:
        if source.late is not None and status.now - source.late >= LATE_MS:
            waiting = f"{_calls(source.calls.waiting)} due, " if source.calls is not None else ""
            yield Problem(
                level=Level.DEGRADED,
                what=f"{PLURALS.get(source.name, source.name)} are late: {waiting}the oldest waits for"
                f" {roughly(status.now - source.late)}",
                advice="see that workers are not all busy or hanging, or start more of them"
                if status.processes
                else "they are made as soon as somebody runs",
            )
    if status.failures:
        parked = f" ({_calls(status.parked)} parked)" if status.parked else ""
        yield Problem(
            level=Level.DEGRADED,
            what=f"{_calls(status.failures)} failed and {_wait(status.failures)} for a decision{parked}",
            advice="look at `manage.py toa failures list`, then retry or discard",
        )
    for one in status.orphans:
        if one.orphan.oldest <= status.now:
            yield Problem(
                level=Level.DEGRADED,
                what=f"{_calls(one.calls)} of {one.orphan.endpoint} that nobody can make{_held(one.behind)}:"
                f" {one.orphan.reason}",
                advice=f"deploy code that has it, or leave them to fail in {roughly(one.orphan.fails_at - status.now)}",
            )

    for locator, rows in status.unreadable.items():
        yield Problem(level=Level.DEGRADED, what=unreadable_said(locator, rows), advice=READABLE_ADVICE)


def _held(behind: Count) -> str:
    if not behind:
        return ""
    what = "event of the same objects waits" if behind == Count(1) else "events of the same objects wait"
    return f" ({behind} later {what} behind)"


def unreadable_said(locator: str, rows: Count) -> str:
    """What is wrong with rows that SQL gave a moment before all time."""
    which, have, them = ("row", "has", "it") if rows == Count(1) else ("rows", "have", "them")
    return (
        f"{rows} {which} of {locator} {have} a moment before the year 1, as -infinity is: nothing of {them} comes due"
    )


READABLE_ADVICE = "SQL wrote it: set the deadline anew, or clear it"


def _crew_problems(status: Status) -> Iterator[Problem]:
    if not status.beats and not status.runs and not status.ticked:
        yield Problem(level=Level.DOWN, what="no beat is alive, so nothing that comes due is seen", advice=START_BEAT)
    if not status.workers and not status.runs:
        yield Problem(level=Level.DOWN, what="no worker is alive, so nothing is made", advice=START_WORKER)
    elif not status.effects_at_once:
        yield Problem(
            level=Level.DEGRADED,
            what="no worker takes the queue toa.calls, so no effect is run",
            advice="start `celery -A PROJECT worker -Q toa.calls`",
        )
    for process in status.processes:
        if abs(process.skew_ms) > WARN_MS:
            stands = ", so it stands down" if abs(process.skew_ms) > STAND_DOWN_MS else ""
            yield Problem(
                level=Level.DEGRADED,
                what=f"the clock of {process} is {format_duration(process.skew_ms)} off the database's{stands}",
                advice="set that host's clock right (NTP)",
            )


PLURALS = {
    "deadline": "deadlines",
    "delay": "delays",
    "delivery": "deliveries",
    "pulse": "pulses",
    "run": "runs",
    "schedule": "schedules",
    "step": "effects of runs",
}
"""Sources, as sentences have them."""


def _crew(status: Status) -> str:
    found = [
        f"{len(rows)} {name}{'s' if len(rows) > 1 else ''}"
        for name, rows in (("beat", status.beats), ("worker", status.workers), ("`toa run`", status.runs))
        if rows
    ]
    ticks = "" if status.beats or status.runs else "ticks come from another scheduler, "
    return f"{ticks}{' and '.join(found)} alive"


def _calls(count: Count) -> str:
    return f"{count} call{'' if count == Count(1) else 's'}"


def _wait(count: Count) -> str:
    return "waits" if count == Count(1) else "wait"


def roughly(milliseconds: int) -> str:
    """A duration in ms as text, from a second on cut to whole seconds; nothing is below zero."""
    shown = max(0, milliseconds)
    return format_duration(shown if shown < SECOND_MS else shown - shown % SECOND_MS)
