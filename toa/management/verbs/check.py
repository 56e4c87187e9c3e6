"""`toa check`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

from django.core import checks

from toa.checks import TAG
from toa.checks.messages import as_json, as_line
from toa.checks.settings import problems_of_toa
from toa.management.console import Console
from toa.management.verbs import DONE, NO, json_option
from toa.manifests.command import main, summary
from toa.runtime import settings

HELP = "Check manifests, models, settings and database; with PATH, the manifests below it alone."
CHECKED = False


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a folder or a manifest, installed or not")
    json_option(parser)


def run(options: Mapping[str, Any], console: Console) -> int:
    if options["paths"]:
        return _paths(options["paths"], console)
    # Settings that do not hold may name no database; then the checks say so and ask none.
    databases = [] if list(problems_of_toa()) else [settings.alias()]
    found = [one for one in checks.run_checks(tags=[TAG], databases=databases) if not one.is_silenced()]
    # Django runs checks in no order; people read the errors first, and two runs say the same.
    found.sort(key=lambda one: (not one.is_serious(), as_line(one)))
    errors = sum(message.is_serious() for message in found)
    if console.as_json:
        console.document({"problems": [as_json(message) for message in found]})
    else:
        for message in found:
            console.say(as_line(message))
        console.say(summary(errors, len(found) - errors))
    return NO if errors else DONE


def _paths(paths: Sequence[str], console: Console) -> int:
    """As `python -m toa check`, which needs no project."""
    said = StringIO()
    with redirect_stdout(said):
        code = main(["check", *paths, *(["--json"] if console.as_json else [])])
    if said.getvalue():
        console.say(said.getvalue().rstrip("\n"))
    return code
