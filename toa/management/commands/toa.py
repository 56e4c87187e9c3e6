"""`manage.py toa …`: look at the clock and act on it from the command line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.syncing import sync
from toa.management.running import Runner


class Command(BaseCommand):
    help = "Work on the clock: sync, run, tick."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="sync | run | tick")
        for name, text in (
            ("sync", "Write the rows of this release's components and pulses. `migrate` does it too."),
            ("tick", "Make one pass over what is due, effects included, and end."),
        ):
            verb = verbs.add_parser(name, help=text, description=text)
            verb.add_argument("--json", action="store_true", help="print one JSON object")
        text = "Do the work of beat and workers in this process, without a broker, until it is stopped."
        run = verbs.add_parser("run", help=text, description=text)
        run.add_argument("--threads", type=int, default=4, help="how many effects run side by side (default 4)")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        match verb:
            case "sync":
                self._say(asdict(sync()), options["json"])
            case "tick":
                waiting = Collected()
                step = run_pass(waiting)
                for hint in waiting.hints:
                    perform(hint)
                self._say(asdict(step), options["json"])
            case _:
                Runner(options["threads"]).run()

    def _say(self, facts: dict[str, Any], as_json: bool) -> None:
        text = json.dumps(facts) if as_json else ", ".join(f"{name} {value}" for name, value in facts.items())
        self.stdout.write(text)
