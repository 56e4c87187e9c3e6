"""`toa failures`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from toa.cadence.actions import failures
from toa.cadence.explaining.telling import when
from toa.cadence.reports import failed
from toa.cadence.reports.armed import PAGE
from toa.core.clock import to_moment
from toa.management.console import Console
from toa.management.deciding import decide
from toa.management.reading import by_option, identity, operator, positive
from toa.management.verbs import DONE, NO, USAGE, json_option
from toa.models import Failure
from toa.runtime import clock

HELP = "List or show calls that failed, have them tried again, or let them go."


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="those that wait for a decision, oldest first")
    listing.add_argument("--endpoint", help="of this endpoint only")
    listing.add_argument("--entity", metavar="COMPONENT:ID", help="of this entity only")
    listing.add_argument("--limit", type=positive, default=PAGE, help=f"at most so many ({PAGE})")
    listing.add_argument("--after", metavar="MARK", help="go on after a page, from the mark at its end")
    json_option(listing)
    one = actions.add_parser("show", help="one failure, with its traceback")
    one.add_argument("id", type=identity, metavar="ID")
    json_option(one)
    for name, what in (
        ("retry", "have the same calls made again, under the same keys"),
        ("discard", "let calls go for good; what is parked behind them goes on"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("ids", nargs="*", type=identity, metavar="ID")
        action.add_argument("--all", action="store_true", help="all of them, oldest first, in place of ids")
        action.add_argument("--endpoint", help="with --all: of this endpoint only")
        action.add_argument("--limit", type=positive, help="with --all: at most so many")
        by_option(action)
        json_option(action)


def run(options: Mapping[str, Any], console: Console) -> int:
    match options["action"]:
        case "list":
            return _list(options, console)
        case "show":
            return _show(options["id"], console)
        case "retry":
            return decide(_chosen(options), partial(failures.retry, by=operator(options)), console)
        case _:
            return decide(_chosen(options), partial(failures.discard, by=operator(options)), console)


def _chosen(options: Mapping[str, Any]) -> Iterable[UUID]:
    given: list[UUID] = options["ids"]
    if bool(given) == bool(options["all"]):
        raise CommandError("name the failures by their ids, or say --all", returncode=USAGE)
    if given:
        if options["endpoint"] or options["limit"]:
            raise CommandError("--endpoint and --limit go with --all", returncode=USAGE)
        return given
    return failed.identities(endpoint=options["endpoint"], until=clock.clock().now(), limit=options["limit"])


def _list(options: Mapping[str, Any], console: Console) -> int:
    page = failed.page(
        endpoint=options["endpoint"], entity=options["entity"], limit=options["limit"], after=options["after"]
    )
    now = clock.clock().now()
    if console.as_json:
        console.document({"now": now, "failures": [_data(one) for one in page.failures], "after": page.after})
        return DONE
    if not page.failures:
        console.say("No failure waits for a decision.")
        return DONE
    console.table(
        ("ID", "ENDPOINT", "FAILED", "ATTEMPTS", "ENTITY", "ERROR"),
        [
            (
                one.id.hex,
                one.endpoint,
                when(to_moment(one.at), now),
                one.attempts,
                one.entity,
                one.error if len(one.error) <= 100 else f"{one.error[:97]}...",
            )
            for one in page.failures
        ],
    )
    console.more(page.after)
    return DONE


def _show(wanted: UUID, console: Console) -> int:
    failure = failed.find(wanted)
    if failure is None:
        raise CommandError(f"no failure {wanted.hex}: it never was, or somebody decided it already", returncode=NO)
    parked = failures.parked_behind(failure)
    if console.as_json:
        console.document(_data(failure) | {"traceback": failure.traceback, "parked_behind": parked})
        return DONE
    now = clock.clock().now()
    console.say(f"{failure.endpoint}: {failure.error}")
    for name, value in (
        ("id", failure.id.hex),
        ("call", f"{failure.call.hex}, a {failure.source}"),
        ("failed", when(to_moment(failure.at), now)),
        ("due", when(to_moment(failure.due_at), now)),
        ("attempts", str(failure.attempts)),
        ("entity", failure.entity or "-"),
        ("parked", f"{parked} deliveries wait behind it"),
        ("request", json.dumps(failure.request, ensure_ascii=False)),
    ):
        console.say(f"  {name:<10}{value}")
    if failure.traceback:
        console.say(failure.traceback.rstrip())
    return DONE


def _data(failure: Failure) -> dict[str, Any]:
    return {
        "id": failure.id.hex,
        "call": failure.call.hex,
        "source": failure.source,
        "endpoint": failure.endpoint,
        "entity": failure.entity,
        "error": failure.error,
        "attempts": failure.attempts,
        "due": to_moment(failure.due_at),
        "at": to_moment(failure.at),
        "request": failure.request,
    }
