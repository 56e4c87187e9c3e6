"""`toa sync`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toa.cadence.syncing import sync
from toa.management.console import Console
from toa.management.verbs import DONE, json_option

HELP = "Write the rows of this release's components, pulses and schedules. `migrate` does it too."


def arguments(parser: ArgumentParser) -> None:
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    console.facts(asdict(sync()))
    return DONE
