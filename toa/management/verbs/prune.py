"""`toa prune`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from typing import Any

from toa.cadence.actions.pruning import history_days, prune
from toa.management.console import Console
from toa.management.reading import positive
from toa.management.verbs import DONE, json_option

HELP = "Delete the history of calls settled long ago, and remembered replies past their time, in small steps."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--days", type=positive, help="how long history is kept (default: TOA['HISTORY_DAYS'])")
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    gone = Counter({"history": 0, "revisions": 0, "once": 0, "locks": 0, "runs": 0})
    for step in prune(options["days"] or history_days()):
        gone[step.what] += step.rows
    console.facts(gone)
    return DONE
