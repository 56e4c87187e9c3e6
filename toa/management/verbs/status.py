"""`toa status`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.db import OperationalError, ProgrammingError

from toa.cadence.explaining.telling import when
from toa.cadence.reports import reporting
from toa.cadence.reports.health import Health, Level, judge, roughly
from toa.cadence.reports.status import OrphanStatus, SourceStatus, Status, read
from toa.core.clock import to_moment
from toa.core.duration import format_duration
from toa.management.console import Console
from toa.management.verbs import json_option
from toa.models import Process

HELP = "Say whether all is well: who is alive, what is late, what needs a person. Exits with 0, 1 or 2."
# It has to answer when something is wrong.
CHECKED = False

_SOURCES = ("SOURCE", "LATE BY", "WAITING", "RUNNING", "NEXT HOUR", "PARKED", "NEXT")
_PROCESSES = ("PROCESS", "EFFECTS AT ONCE", "CLOCK OFF BY", "UP FOR")
_ORPHANS = ("UNKNOWN ENDPOINT", "CALLS", "OLDEST", "FAILS", "WHY")


def arguments(parser: ArgumentParser) -> None:
    parser.epilog = "Exit codes: 0 all is well, 1 something is late or needs a person, 2 nothing is made."
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    try:
        status = read()
    except OperationalError as error:
        return _down(console, f"the database cannot be reached: {error}")
    except ProgrammingError as error:
        return _down(console, f"the tables of toa are not there, run `manage.py migrate`: {error}")
    health = judge(status)
    if console.as_json:
        console.document(reporting.of_status(status, health))
    else:
        _write(status, health, console)
    return health.level.exit_code


def _down(console: Console, what: str) -> int:
    what = " ".join(what.split())
    if console.as_json:
        console.document({"health": Level.DOWN.value, "sentence": f"Down: {what}", "problems": []})
    else:
        console.say(f"Down: {what}")
    return Level.DOWN.exit_code


def _write(status: Status, health: Health, console: Console) -> None:
    console.say(health.sentence)
    for problem in health.problems[1:]:
        console.say(f"- {problem.what}; {problem.advice}.")
    console.say()
    console.say("Nothing is coming." if status.next is None else f"next due: {when(status.next, status.now)}")
    if status.paused:
        console.say(f"paused: {', '.join(status.paused)}")
    console.say()
    console.table(_SOURCES, [_source(source, status.now) for source in status.sources])
    if status.processes:
        console.say()
        console.table(_PROCESSES, [_process(one) for one in status.processes])
    if status.orphans:
        console.say()
        console.table(_ORPHANS, [_orphan(one, status.now) for one in status.orphans])


def _source(source: SourceStatus, now: int) -> tuple[object, ...]:
    late = "-" if source.late is None else roughly(now - source.late)
    coming = "-" if source.next is None else when(source.next, now)
    calls = source.calls
    if calls is None:
        return source.name, late, "", "", "", "", coming
    return source.name, late, calls.waiting, calls.running, calls.within_hour, calls.parked, coming


def _process(process: Process) -> tuple[object, ...]:
    up = to_moment(process.seen_at) - to_moment(process.started_at)
    return process, process.capacity, format_duration(process.skew_ms), roughly(up)


def _orphan(one: OrphanStatus, now: int) -> tuple[object, ...]:
    orphan = one.orphan
    return orphan.endpoint, one.calls, when(orphan.oldest, now), when(orphan.fails_at, now), orphan.reason
