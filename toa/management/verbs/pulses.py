"""`toa pulses`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toa.cadence.explaining.telling import when
from toa.cadence.reports.standing import PulseStanding, pulses
from toa.core.duration import format_duration
from toa.management.console import Console
from toa.management.verbs import DONE, _acting, json_option
from toa.models import Pulse
from toa.runtime import clock

HELP = "List pulses; pause, resume or call one now."


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|pause|resume|fire")
    listing = actions.add_parser("list", help="every pulse and when it comes next")
    listing.add_argument("--all", action="store_true", help="those declared no more too")
    json_option(listing)
    _acting.arguments(actions.add_parser("pause", help="let no boundary be called; a running call finishes"))
    _acting.arguments(actions.add_parser("resume", help="go on at the next boundary"))
    _acting.arguments(actions.add_parser("fire", help="call it now, beside its grid"))


def run(options: Mapping[str, Any], console: Console) -> int:
    if options["action"] != "list":
        return _acting.act(Pulse, options, console)
    now = clock.clock().now()
    found = pulses(now, retired=options["all"])
    if console.as_json:
        console.document({"now": now, "pulses": [asdict(one) for one in found]})
    else:
        console.table(("PULSE", "EVERY", "NEXT", "STATE"), [_row(one, now) for one in found])
    return DONE


def _row(one: PulseStanding, now: int) -> tuple[str, ...]:
    name = f"{one.endpoint}#{one.name}" if one.name else one.endpoint
    every = format_duration(one.cycle_ms)
    if one.intervals > 1:
        every = f"{one.intervals} times in {every}"
    if one.overridden:
        every = f"{every}, by the settings"
    state = f"{one.state} by {one.paused_by}" if one.paused_by else one.state
    if one.since is not None:
        state = f"{state} since {when(one.since, now)}"
    return name, every, "" if one.next is None else when(one.next, now), state
