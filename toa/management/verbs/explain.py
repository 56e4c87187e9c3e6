"""`toa explain`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toa.cadence.explaining.gathering import explain
from toa.cadence.explaining.telling import tell
from toa.management.console import Console
from toa.management.verbs import DONE, NO, json_option
from toa.workflow.explaining import gathering as runs
from toa.workflow.explaining.finding import names_runs
from toa.workflow.explaining.telling import tell as tell_of_run

HELP = "Say why something will, did or did not happen to one object, or where one run of a workflow is."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "component", metavar="COMPONENT", help="as in store.orders; for a run: run, or a workflow as in loyalty.welcome"
    )
    parser.add_argument("id", metavar="ID", help="of the object; of a run, its id or its key")
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    name, identity = options["component"], options["id"]
    if names_runs(name):
        facts = runs.explain(name, identity)
        _say(console, asdict(facts), tell_of_run(facts))
        return DONE
    known = explain(name, identity)
    _say(console, asdict(known), tell(known))
    return DONE if known.found else NO


def _say(console: Console, facts: dict[str, Any], sentences: list[str]) -> None:
    if console.as_json:
        console.document({**facts, "sentences": sentences})
    else:
        for sentence in sentences:
            console.say(sentence)
