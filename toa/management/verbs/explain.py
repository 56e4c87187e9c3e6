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

HELP = "Say why something will, did or did not happen to one object."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("component", metavar="COMPONENT", help="as in store.orders")
    parser.add_argument("id", metavar="ID", help="of the object")
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    facts = explain(options["component"], options["id"])
    if console.as_json:
        console.document({**asdict(facts), "sentences": tell(facts)})
    else:
        for sentence in tell(facts):
            console.say(sentence)
    return DONE if facts.found else NO
