"""`toa schedules`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from toa.cadence.explaining.telling import when
from toa.cadence.reports.standing import Coming, ScheduleStanding, coming, find, schedules
from toa.core.clock import to_datetime
from toa.exceptions import InvalidSchedule, InvalidZone
from toa.management.console import Console
from toa.management.reading import positive
from toa.management.verbs import DONE, _acting, json_option
from toa.models import Schedule
from toa.runtime import clock

HELP = "List schedules, show what comes of one; pause, resume or call one now."


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|next|pause|resume|fire")
    listing = actions.add_parser("list", help="every schedule and when it comes next")
    listing.add_argument("--all", action="store_true", help="those declared no more too")
    json_option(listing)
    ahead = actions.add_parser("next", help="what comes: local time, UTC, and what the clocks will do to it")
    ahead.add_argument("name", metavar="ENDPOINT[#NAME]", help="as in store.reports.weekly")
    ahead.add_argument("-n", type=positive, default=5, dest="count", help="how many (default 5, at most 1000)")
    json_option(ahead)
    _acting.arguments(actions.add_parser("pause", help="let nothing be called; a running call finishes"))
    _acting.arguments(actions.add_parser("resume", help="go on at the next occurrence"))
    _acting.arguments(actions.add_parser("fire", help="call it now, beside its calendar"))


def run(options: Mapping[str, Any], console: Console) -> int:
    match options["action"]:
        case "list":
            return _list(options, console)
        case "next":
            return _next(options, console)
        case _:
            return _acting.act(Schedule, options, console)


def _list(options: Mapping[str, Any], console: Console) -> int:
    now = clock.clock().now()
    found = schedules(now, retired=options["all"])
    if console.as_json:
        console.document({"now": now, "schedules": [asdict(one) for one in found]})
    else:
        headings = ("SCHEDULE", "WHEN", "ZONE", "NEXT", "STATE")
        console.table(headings, [_row(one, now) for one in found])
    return DONE


def _row(one: ScheduleStanding, now: int) -> tuple[str, ...]:
    name = f"{one.endpoint}#{one.name}" if one.name else one.endpoint
    words = one.expression if one.words == one.expression else f"{one.expression} ({one.words})"
    if one.overridden:
        words = f"{words}, by the settings"
    state = f"{one.state} by {one.paused_by}" if one.paused_by else one.state
    return name, words, one.zone, "" if one.next is None else when(one.next, now), state


def _next(options: Mapping[str, Any], console: Console) -> int:
    row = find(Schedule, options["name"])
    now = clock.clock().now()
    try:
        found = list(coming(row, now, min(options["count"], 1000)))
    except (InvalidSchedule, InvalidZone) as problem:
        raise CommandError(f"{row} cannot be read: {problem}") from problem
    if console.as_json:
        document = {"expression": row.expression, "zone": row.zone, "now": now}
        console.document(document | {"next": [asdict(one) for one in found]})
        return DONE
    console.say(f"{row.expression} in {row.zone}" + (", paused" if row.paused_at else ""))
    console.table((f"LOCAL ({row.zone})", "UTC", "NOTE"), [_ahead(one) for one in found])
    return DONE


def _ahead(one: Coming) -> tuple[str, ...]:
    utc = f"{to_datetime(one.at):%Y-%m-%d %H:%M:%S}"
    jitter = one.planned - one.at
    notes = [note for note in (f"called {jitter / 1000:g} s later (jitter)" if jitter else "", one.note) if note]
    return one.local, utc, "; ".join(notes)
