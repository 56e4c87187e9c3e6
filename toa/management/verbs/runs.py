"""`toa runs`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.utils.text import Truncator

from toa.cadence.explaining.telling import when
from toa.exceptions import ToaError
from toa.management.console import Console
from toa.management.deciding import decide
from toa.management.reading import by_option, identity, operator, position, positive
from toa.management.runs_shown import ended_row, live_row, sentences
from toa.management.verbs import DONE, NO, USAGE, json_option
from toa.manifests import registry
from toa.runtime import clock
from toa.runtime.starting import start
from toa.workflow import actions, checking, journals, reports
from toa.workflow.reporting import of_run, of_shown

HELP = "Start, list or show runs of workflows; cancel or retry them; check them against this code."

_CANCELLED = (actions.CANCELLED, actions.CANCELLING)


def arguments(parser: ArgumentParser) -> None:
    subparsers = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    begin = subparsers.add_parser("start", help="start a run")
    begin.add_argument("endpoint", metavar="ENDPOINT", help="as in store.reports.daily")
    begin.add_argument("input", nargs="?", default="null", metavar="JSON", help="its input (default: null)")
    begin.add_argument("--key", help="the same key starts nothing a second time")
    json_option(begin)
    listing = subparsers.add_parser("list", help="runs on their way, by the moment they were planned for")
    listing.add_argument("--endpoint", help="of this workflow only")
    listing.add_argument("--state", choices=list(reports.STATES), help="in this state only")
    listing.add_argument("--ended", action="store_true", help="those that ended, the latest first")
    listing.add_argument(
        "--outcome", choices=[one.value for one in reports.OUTCOMES], help="with --ended: with this outcome"
    )
    listing.add_argument("--limit", type=positive, default=reports.PAGE, help=f"at most so many ({reports.PAGE})")
    listing.add_argument("--after", metavar="MARK", help="go on after a page, from the mark at its end")
    json_option(listing)
    one = subparsers.add_parser("show", help="one run, step by step")
    one.add_argument("id", type=identity, metavar="ID")
    one.add_argument("--limit", type=positive, default=journals.PAGE, help=f"at most so many steps ({journals.PAGE})")
    one.add_argument("--after", type=position, metavar="STEP", help="go on after a page, from the step at its end")
    json_option(one)
    for name, what in (
        ("cancel", "ask for the end of runs; what they clean up is done"),
        ("retry", "have failed runs go on from the step that failed"),
        ("discard", "let failed runs go for good"),
    ):
        action = subparsers.add_parser(name, help=what)
        action.add_argument("ids", nargs="+", type=identity, metavar="ID")
        by_option(action)
        json_option(action)
    check = subparsers.add_parser("check", help="replay runs on their way with this code, and say which would break")
    check.add_argument("--endpoint", help="of this workflow only")
    json_option(check)


def run(options: Mapping[str, Any], console: Console) -> int:
    match options["action"]:
        case "start":
            return _start(options, console)
        case "list":
            return _ended(options, console) if options["ended"] else _list(options, console)
        case "show":
            return _show(options, console)
        case "check":
            return _check(options, console)
        case "cancel":
            return decide(options["ids"], partial(actions.cancel, by=operator(options)), console, _CANCELLED)
        case "retry":
            return decide(options["ids"], partial(actions.retry, by=operator(options)), console)
        case _:
            return decide(options["ids"], partial(actions.discard, by=operator(options)), console)


def _start(options: Mapping[str, Any], console: Console) -> int:
    try:
        given = json.loads(options["input"])
    except ValueError as problem:
        raise CommandError(f"the input is no JSON: {problem}", returncode=USAGE) from problem
    try:
        run_id = start(options["endpoint"], given, options["key"])
    except ToaError as refused:
        raise CommandError(str(refused), returncode=NO) from refused
    console.facts({"run": run_id})
    return DONE


def _list(options: Mapping[str, Any], console: Console) -> int:
    if options["outcome"]:
        raise CommandError("--outcome goes with --ended", returncode=USAGE)
    page = reports.live(
        endpoint=options["endpoint"], state=options["state"], limit=_limit(options), after=options["after"]
    )
    if console.as_json:
        console.document({"now": page.now, "runs": [of_run(one, page.now) for one in page.runs], "after": page.after})
        return DONE
    if not page.runs:
        console.say("No run is on its way.")
        return DONE
    headings = ("ID", "WORKFLOW", "STATE", "WAITS FOR", "NEXT", "STEPS", "STARTED")
    console.table(headings, [live_row(one, page.now) for one in page.runs])
    console.more(page.after)
    return DONE


def _ended(options: Mapping[str, Any], console: Console) -> int:
    if options["state"]:
        raise CommandError("--state is for runs on their way; with --ended it is --outcome", returncode=USAGE)
    page = reports.ended(
        endpoint=options["endpoint"], outcome=options["outcome"], limit=_limit(options), after=options["after"]
    )
    now = clock.clock().now()
    if console.as_json:
        console.document({"now": now, "runs": [of_run(one, now) for one in page.runs], "after": page.after})
        return DONE
    if not page.runs:
        console.say("No run that ended is kept.")
        return DONE
    headings = ("ID", "WORKFLOW", "OUTCOME", "ENDED", "STEPS", "ERROR")
    console.table(headings, [ended_row(one, now) for one in page.runs])
    console.more(page.after)
    return DONE


def _show(options: Mapping[str, Any], console: Console) -> int:
    wanted: UUID = options["id"]
    shown = reports.show(wanted, limit=min(int(options["limit"]), journals.MOST), after=options["after"])
    if shown is None:
        raise CommandError(f"no run {wanted.hex}: it never was, or its record was pruned", returncode=NO)
    now = clock.clock().now()
    if console.as_json:
        console.document(of_shown(shown, now) | {"after": shown.after})
        return DONE
    for line in sentences(shown, now):
        console.say(line)
    console.table(
        ("STEP", "KIND", "NAME", "OUTCOME", "AT", "VALUE"),
        [
            (
                step.position,
                step.kind,
                step.name,
                step.outcome,
                "" if step.at is None else when(step.at, now),
                _short(step.value),
            )
            for step in shown.steps
        ],
    )
    console.more(None if shown.after is None else str(shown.after))
    return DONE


def _check(options: Mapping[str, Any], console: Console) -> int:
    broken = []
    held = 0
    for one in checking.check(options["endpoint"]):
        if one.holds:
            held += 1
            continue
        broken.append(one)
        if not console.as_json:
            console.say(f"{one.id.hex} {one.endpoint}, after {one.steps} steps: {one.error}")
    if options["endpoint"] and not held and not broken:
        # No run of it is on its way: then it may be a slip of the pen, and nothing was checked.
        registry.endpoint(options["endpoint"])
    if console.as_json:
        console.document({"hold": held, "break": [asdict(one) for one in broken]})
    else:
        console.say(f"{held} run{'' if held == 1 else 's'} would go on, {len(broken)} would break.")
    return NO if broken else DONE


def _limit(options: Mapping[str, Any]) -> int:
    return min(int(options["limit"]), reports.MOST)


def _short(value: Any) -> str:
    return "" if value is None else Truncator(json.dumps(value, ensure_ascii=False, default=str)).chars(60)
