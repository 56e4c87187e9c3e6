"""`manage.py warehouse`: the simulated outside, a program of its own."""

from __future__ import annotations

import os
import secrets
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from shop.amounts import UnreadableFigure, read_count
from shop.children import Stopped, Stopping
from shop.environment import TOKEN, reaching
from shop.lines import UnreadableFile
from shop.sheet import Sheet
from shop.warehouse.drifting import Drift
from shop.warehouse.faults import Faults, Settings, UnfitSetting
from shop.warehouse.journal import Journal
from shop.warehouse.ledger import Ledger
from shop.warehouse.server import Warehouse
from toa.core.duration import parse_duration
from toa.exceptions import InvalidDuration


def share(text: str) -> float:
    """`5%` or `0.05`."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no share: 5% or 0.05") from None


def length(text: str) -> int:
    """`300ms`, `2s`: in ms."""
    try:
        return parse_duration(text)
    except InvalidDuration as error:
        raise ArgumentTypeError(str(error)) from None


class Command(BaseCommand):
    help = "Run a simulated warehouse, courier and payment provider over HTTP, which misbehave as they are told."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100, help="8100 unless given; 0 takes a free one")
        parser.add_argument("--seed", type=int, default=0, help="the same seed meets the same faults")
        parser.add_argument("--fail", type=share, default=0.0, help="requests that fail: 5%%")
        parser.add_argument("--hang", type=share, default=0.0, help="requests that get no answer")
        parser.add_argument("--lie", type=share, default=0.0, help="requests that get nonsense")
        parser.add_argument("--lost", type=share, default=0.0, help="requests carried out, whose answer is lost")
        parser.add_argument("--slow", type=length, default=0, help="each answer takes up to this long: 300ms")
        parser.add_argument("--hang-for", type=length, default=30_000, help="until such a connection is closed: 30s")
        parser.add_argument("--drift", type=float, default=0.0, help="shelves that change by themselves, each second")
        parser.add_argument("--shelves", type=Path, help="a CSV file (product, available) of the first shelves")
        parser.add_argument("--picking", type=length, default=0, help="until an order is taken from its shelf: 2s")
        parser.add_argument("--state", type=Path, help="a file that keeps what it holds over a restart")
        parser.add_argument("--quiet", action="store_true", help="no line for each request")

    def handle(self, *args: Any, **options: Any) -> None:
        token = os.environ.get(TOKEN) or secrets.token_urlsafe(16)
        try:
            settings = Settings(
                fail=options["fail"],
                hang=options["hang"],
                lie=options["lie"],
                lost=options["lost"],
                slow_ms=options["slow"],
                hang_s=options["hang_for"] / 1000,
                drift=options["drift"],
            )
        except UnfitSetting as error:
            raise CommandError(f"{error}.") from error
        ledger = Ledger(journal=Journal(options["state"]), picking_ms=options["picking"])
        if options["shelves"]:
            _fill(ledger, options["shelves"])
        faults = Faults(seed=options["seed"], settings=settings)
        log = None if options["quiet"] else self._say
        try:
            warehouse = Warehouse(
                token=token, ledger=ledger, faults=faults, host=options["host"], port=options["port"], log=log
            )
        except OSError as error:
            raise CommandError(f"It cannot listen on {options['host']}:{options['port']}: {error}.") from error
        drift = Drift(ledger, seed=options["seed"], settings=lambda: faults.settings)
        try:
            with Stopping():
                drift.start()
                self._say(f"The warehouse listens at {warehouse.address}")
                if not os.environ.get(TOKEN):
                    given = reaching(warehouse.address, token)
                    self._say("For the shop: export " + " ".join(f"{name}={value}" for name, value in given.items()))
                warehouse.serve_forever(0.1)
        except Stopped:
            self._say("The warehouse closes.")
        finally:
            drift.stop()
            warehouse.server_close()
            ledger.close()

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _fill(ledger: Ledger, path: Path) -> None:
    """Set the shelves of a file. Those that are there, from a life before, stay as they are."""
    try:
        with path.open("rb") as file:
            first = dict(_shelves(path, Sheet(file, ("product", "available"))))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnreadableFile as error:
        raise CommandError(f"{path} cannot be used: {error}.") from error
    known = set(ledger.products())
    ledger.set_shelves({product: figure for product, figure in first.items() if product not in known})


def _shelves(path: Path, sheet: Sheet) -> Iterator[tuple[str, int]]:
    for row in sheet:
        try:
            figure = -1 if row.problem else read_count(row.cells["available"])
        except UnreadableFigure:
            figure = -1
        if figure < 0:
            problem = row.problem or f"{row.cells['available'][:40]!r} is no figure from 0 on"
            raise CommandError(f"{path}:{row.number}: {problem}.")
        yield row.cells["product"], figure
