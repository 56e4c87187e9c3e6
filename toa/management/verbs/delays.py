"""`toa delays`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from toa.cadence.actions import delays
from toa.cadence.explaining.telling import when
from toa.cadence.reports import armed
from toa.core.clock import to_moment
from toa.management.calls import as_data, show
from toa.management.console import Console
from toa.management.deciding import decide
from toa.management.reading import by_option, duration, identity, operator, point, positive
from toa.management.verbs import DONE, json_option

HELP = "List, show, cancel, move or fire stored calls: delays and sends that are still to be made."
SHORT = 100
"""Characters of an error in a list."""


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _listing(actions.add_parser("list", help="those still to be made, in order of time"))
    one = actions.add_parser("show", help="one call: as it waits, or what became of it")
    one.add_argument("id", type=identity, metavar="ID")
    json_option(one)
    for name, what in (
        ("cancel", "take calls back: what is answered `cancelled` never begins"),
        ("move", "give calls another moment"),
        ("fire", "have calls made at the next pass"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("ids", nargs="+", type=identity, metavar="ID")
        if name == "move":
            moment = action.add_mutually_exclusive_group(required=True)
            moment.add_argument("--in", dest="interval", type=duration, metavar="DURATION", help="from now, as in 2h")
            moment.add_argument("--at", type=point, metavar="MOMENT", help="epoch ms, or ISO 8601 with its offset")
        by_option(action)
        json_option(action)


def run(options: Mapping[str, Any], console: Console) -> int:
    match options["action"]:
        case "list":
            return _list(options, console)
        case "show":
            return show(options["id"], console)
        case _:
            act = partial(_act, options, operator(options))
            return decide(options["ids"], act, console, done=(delays.CANCELLED, delays.MOVED, delays.FIRED))


def _listing(parser: ArgumentParser) -> None:
    parser.add_argument("--endpoint", help="of this endpoint only")
    parser.add_argument("--entity", metavar="COMPONENT:ID", help="armed by this entity only")
    parser.add_argument("--overdue", action="store_true", help="only those that are due and not being made")
    parser.add_argument("--within", type=duration, metavar="DURATION", help="only those looked at by then, as in 1h")
    parser.add_argument("--limit", type=positive, default=armed.PAGE, help=f"at most so many ({armed.PAGE})")
    parser.add_argument("--after", metavar="MARK", help="go on after a page, from the mark at its end")
    json_option(parser)


def _act(options: Mapping[str, Any], by: str, call: UUID) -> str:
    match options["action"]:
        case "cancel":
            return delays.cancel(call, by)
        case "fire":
            return delays.fire(call, by)
        case _:
            return delays.move(call, by, interval=options["interval"], at=options["at"])


def _list(options: Mapping[str, Any], console: Console) -> int:
    page = armed.page(
        endpoint=options["endpoint"],
        entity=options["entity"],
        overdue=options["overdue"],
        within_ms=options["within"],
        limit=options["limit"],
        after=options["after"],
    )
    if console.as_json:
        console.document(
            {"now": page.now, "delays": [as_data(call, page.now) for call in page.calls], "after": page.after}
        )
        return DONE
    if not page.calls:
        console.say("No such call is stored.")
        return DONE
    console.table(
        ("ID", "ENDPOINT", "DUE", "STATE", "ATTEMPTS", "ENTITY", "KEY"),
        [
            (
                call.id.hex,
                call.endpoint,
                when(to_moment(call.due_at), page.now),
                armed.state(call, page.now) + (f": {call.error[:SHORT]}" if call.error else ""),
                call.attempt,
                call.entity,
                call.name or "",
            )
            for call in page.calls
        ],
    )
    console.more(page.after)
    return DONE
