"""`toa run`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from toa.cadence.serving import settle
from toa.management.console import Console
from toa.management.reading import positive
from toa.management.reloaded import run_reloaded
from toa.management.running import Runner
from toa.management.verbs import DONE

HELP = "Do the work of beat and workers in this process, without a broker, until it is stopped."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--threads", type=positive, default=4, help="how many effects run side by side (default 4)")
    parser.add_argument("--reload", action="store_true", help="start anew when manifests or code change (development)")


def run(options: Mapping[str, Any], console: Console) -> int:
    if options["reload"]:
        run_reloaded(options["threads"])
    else:
        settle()
        Runner(options["threads"]).run()
    return DONE
