"""`toa sweep`."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from typing import Any

from toa.cadence.actions.sweeping_by_hand import find_sweep, rounds, would_call
from toa.management.console import Console
from toa.management.reading import by_option, operator, positive
from toa.management.verbs import DONE, NO, json_option
from toa.runtime.swept import watching

HELP = "Make the sweep of a pulse or schedule now: once, or until there is nothing left to do."
EVERY_S = 2.0
"""How often a sweep that goes on says how far it is."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="ENDPOINT[#NAME]", help="as in store.orders.expire")
    parser.add_argument("--until-dry", action="store_true", help="go on, round after round, while one did something")
    parser.add_argument("--limit", type=positive, help="how many objects in a round, of a declared sweep (1 to 1000)")
    parser.add_argument("--dry-run", action="store_true", help="list whom a declared sweep would call, and call nobody")
    by_option(parser)
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    one = find_sweep(options["name"])
    if options["dry_run"]:
        return _list(would_call(one, options["limit"]), console)
    return _sweep(one, options, console)


def _list(found: list[Any], console: Console) -> int:
    if console.as_json:
        console.document({"would_call": found})
    else:
        for identity in found:
            console.say(str(identity))
        console.say(f"{len(found)} would be called")
    return DONE


def _sweep(one: Any, options: Mapping[str, Any], console: Console) -> int:
    total: Counter[str] = Counter()
    number, reply = 0, None
    by = operator(options)
    with watching(Progress(console)):
        for reply in rounds(one, by, limit=options["limit"], until_dry=options["until_dry"]):
            number += 1
            if isinstance(reply, Mapping):
                total.update({name: count for name, count in reply.items() if type(count) is int and name != "left"})
            if not console.as_json:
                console.say(f"round {number}: {_said(reply)}")
                _tell_errors(reply, console)
    if console.as_json:
        console.document({"rounds": number, "counts": dict(total), "last": reply})
    elif number > 1:
        console.say(f"{number} rounds: {_said(total)}")
    return NO if total["failed"] else DONE


class Progress:
    """Says on standard error, every two seconds, how far a sweep is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said_at = time.monotonic()

    def __call__(self, counts: Mapping[str, Any]) -> None:
        if time.monotonic() - self._said_at >= EVERY_S:
            self._said_at = time.monotonic()
            self._console.complain(f"  {_said(counts)} so far")


def _tell_errors(reply: Any, console: Console) -> None:
    errors = reply.get("errors") if isinstance(reply, Mapping) else None
    for error in errors if isinstance(errors, list) else ():
        console.say(f"  {error}")


def _said(reply: Any) -> str:
    if isinstance(reply, Mapping):
        counts = [f"{count} {name}" for name, count in reply.items() if type(count) is int and count]
        return ", ".join(counts) or "nothing to do"
    return "done" if reply is None else str(reply)
