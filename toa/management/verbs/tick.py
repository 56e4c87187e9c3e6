"""`toa tick`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toa.cadence.passes import Collected, perform, run_pass
from toa.management.console import Console
from toa.management.verbs import DONE, json_option

HELP = "Make one pass over what is due, effects included, and end."


def arguments(parser: ArgumentParser) -> None:
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    waiting = Collected()
    step = run_pass(waiting)
    for hint in waiting.hints:
        perform(hint)
    console.facts(asdict(step))
    return DONE
