"""`manage.py toa VERB …`: look at the clock and act on it from the command line."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toa.exceptions import CallError, InvalidInput, InvalidQuery, UnknownEndpoint
from toa.management import verbs
from toa.management.console import Console


class Command(BaseCommand):
    help = "Work on the clock. `manage.py toa VERB --help` tells about one verb."

    def add_arguments(self, parser: ArgumentParser) -> None:
        chosen = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        for name in verbs.names():
            verb = verbs.verb(name)
            verb.arguments(chosen.add_parser(name, help=verb.HELP, description=verb.HELP))

    def execute(self, *args: Any, **options: Any) -> str | None:
        # What writes or reads the source must work while the checks fail: it is what mends them. What watches the
        # source checks it at each change.
        checked = verbs.is_checked(verbs.verb(options["verb"])) and not options.get("reload")
        self.requires_system_checks = "__all__" if checked else []
        return super().execute(*args, **options)

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        for value in options.values():
            # What a shell hands over may be any bytes, of which the database takes UTF-8 alone.
            if isinstance(value, str) and not value.isascii() and value != value.encode(errors="replace").decode():
                raise CommandError(f"{value!r} is not UTF-8", returncode=verbs.USAGE)
        console = Console(self.stdout, self.stderr, as_json=options.get("json", False))
        try:
            code = verbs.verb(verb).run(options, console)
        except (InvalidInput, InvalidQuery) as error:
            raise CommandError(str(error), returncode=verbs.USAGE) from error
        except (CallError, UnknownEndpoint) as error:
            raise CommandError(str(error), returncode=verbs.NO) from error
        if code:
            sys.exit(code)
