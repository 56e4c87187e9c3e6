"""`toa events`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toa.cadence.actions.replaying import replay
from toa.cadence.explaining.telling import when
from toa.cadence.reports.deliveries import STATES, live, settled, show
from toa.management.console import Console
from toa.management.reading import by_option, identity, operator, positive
from toa.management.verbs import DONE, json_option
from toa.runtime import clock

HELP = "List events on their way or settled, show one, or send a settled one again."


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|replay")
    listing = actions.add_parser("list", help="those on their way, the oldest first; or those settled")
    which = listing.add_mutually_exclusive_group()
    which.add_argument("--state", choices=STATES, default="", help="on their way, and in this state")
    which.add_argument("--settled", action="store_true", help="those that came to an end, the newest first")
    listing.add_argument("--event", default="", help="as in store.orders.created")
    listing.add_argument("--limit", type=positive, default=100, help="how many (default 100, at most 1000)")
    listing.add_argument("--after", metavar="CURSOR", help="go on where the page before ended")
    json_option(listing)
    showing = actions.add_parser("show", help="all about one")
    again = actions.add_parser("replay", help="send a settled one to its receiver once more, as a new call")
    for one in (showing, again):
        one.add_argument("id", type=identity, metavar="ID")
        json_option(one)
    by_option(again)


def run(options: Mapping[str, Any], console: Console) -> int:
    {"list": _list, "show": _show, "replay": _replay}[options["action"]](options, console)
    return DONE


def _list(options: Mapping[str, Any], console: Console) -> None:
    now = clock.clock().now()
    page = {"event": options["event"], "limit": options["limit"], "after": options["after"]}
    if options["settled"]:
        lines, after = settled(**page)
        rows: list[Any] = lines
        headings = ("AT", "EVENT", "FROM", "TO", "OUTCOME", "ID")
        cells = [(when(one.at, now), one.event, one.source, one.endpoint, _outcome(one), one.id) for one in lines]
    else:
        found, after = live(state=options["state"], **page)
        rows = found
        headings = ("DUE", "EVENT", "FROM", "TO", "STATE", "ID")
        cells = [
            (when(one.due, now), one.event, f"{one.source} v{one.version}", one.endpoint, _state(one), one.id)
            for one in found
        ]
    if console.as_json:
        console.document({"now": now, "events": [asdict(one) for one in rows], "after": after})
        return
    console.table(headings, cells)
    console.more(after)


def _show(options: Mapping[str, Any], console: Console) -> None:
    known = show(options["id"])
    alive = known["live"]
    document = {**known, "live": alive and asdict(alive), "settled": [asdict(one) for one in known["settled"]]}
    if console.as_json:
        console.document(document)
        return
    now = clock.clock().now()
    if alive is not None:
        console.say(
            f"{alive.event} of {alive.source} at version {alive.version}, to {alive.endpoint}: {_state(alive)}."
        )
        console.say(f"Due {when(alive.due, now)}, {alive.attempts} attempts so far.")
    for one in known["settled"]:
        console.say(f"{one.event} of {one.source}, to {one.endpoint}: {_outcome(one)}, {when(one.at, now)}.")
    if known["failure"]:
        console.say(f"It waits for a person as failure {known['failure']}.")
    console.say("Request:")
    console.document(known["request"])


def _replay(options: Mapping[str, Any], console: Console) -> None:
    new = replay(options["id"], by=operator(options))
    if console.as_json:
        console.document({"replays": options["id"], "call": new})
    else:
        console.say(
            f"{options['id'].hex} is sent again as the new call {new.hex}, under a key of its own and beside the order"
            " of events: its receiver takes it once more."
        )


def _state(one: Any) -> str:
    return f"{one.state}: {one.error}" if one.error else str(one.state)


def _outcome(one: Any) -> str:
    return f"{one.outcome}: {one.code}" if one.code else str(one.outcome)
