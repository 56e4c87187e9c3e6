"""What the verbs share that act on one pulse or schedule: its name, who asks, and what came of it."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from toa.cadence.actions import operating
from toa.cadence.reports.standing import find
from toa.management.console import Console
from toa.management.reading import by_option, operator
from toa.management.verbs import DONE, NO, json_option
from toa.models import Pulse, Schedule

ACTS: Mapping[str, Callable[[Pulse | Schedule, str], str]] = {
    "pause": operating.pause,
    "resume": operating.resume,
    "fire": operating.fire,
}
_DID = {operating.PAUSED, operating.RESUMED, operating.FIRED}


def arguments(parser: ArgumentParser) -> None:
    """The arguments of an act."""
    parser.add_argument("name", metavar="ENDPOINT[#NAME]", help="as in store.orders.expire")
    by_option(parser)
    json_option(parser)


def act(kind: type[Pulse] | type[Schedule], options: Mapping[str, Any], console: Console) -> int:
    """Do it and say what was done: 0 where it was, 1 where it is so already or cannot be."""
    row = find(kind, options["name"])
    answer = ACTS[options["action"]](row, operator(options))
    if console.as_json:
        console.document({"id": row.id, "answer": answer})
    else:
        console.say(f"{row}: {answer}")
    return DONE if answer in _DID else NO
