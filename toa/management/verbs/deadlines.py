"""`toa deadlines`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from toa.cadence.explaining.telling import when
from toa.cadence.reports.pending import PendingDeadline, pending
from toa.core.duration import format_duration
from toa.management.console import Console
from toa.management.reading import duration, positive
from toa.management.verbs import DONE, json_option
from toa.runtime import bindings, clock

HELP = "List the pending deadlines of every component, the earliest first."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=["list"])
    parser.add_argument("--component", help="of this component alone")
    bounds = parser.add_mutually_exclusive_group()
    bounds.add_argument("--overdue", action="store_true", help="what should have been reached by now")
    bounds.add_argument("--within", type=duration, metavar="DURATION", help="what comes in the time ahead, as in 1h")
    parser.add_argument("--limit", type=positive, default=100, help="how many (default 100, at most 1000)")
    parser.add_argument("--after", metavar="CURSOR", help="go on where the page before ended")
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    now = clock.clock().now()
    if options["component"] and not bindings.component(options["component"]).spec.deadlines:
        raise CommandError(f"{options['component']} has no deadlines")
    ahead = 0 if options["overdue"] else options["within"]
    page = pending(
        component=options["component"],
        until=None if ahead is None else now + ahead,
        limit=options["limit"],
        after=options["after"],
    )
    if console.as_json:
        console.document({"now": now, "deadlines": [asdict(one) for one in page.deadlines], "after": page.after})
        return DONE
    headings = ("AT", "COMPONENT", "ID", "DEADLINE", "STATE")
    console.table(headings, [_row(one, now) for one in page.deadlines])
    console.more(page.after)
    return DONE


def _row(one: PendingDeadline, now: int) -> tuple[str, ...]:
    if one.held:
        state = f"{one.state or 'held'} until {when(one.at, now)}"
    elif one.late_ms:
        state = f"{format_duration(one.late_ms)} late"
    else:
        state = "due now" if one.at <= now else "pending"
    moment = one.at if one.moment is None else one.moment
    return when(moment, now), one.component, one.id, one.property, state
