"""`manage.py shop_import FILE`: orders, or first stock, from a CSV file."""

from __future__ import annotations

import json
import re
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any
from zlib import crc32

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from shop.importing import ORDER_COLUMNS, STOCK_COLUMNS, Handled, Outcome, import_orders, import_stock
from shop.lines import UnreadableFile
from shop.reporting import Bar, Lines, Report, counted
from shop.sheet import Row, Sheet

Part = tuple[int, int]


class Command(BaseCommand):
    help = "Import orders from a CSV file. Repeating it changes nothing; a refused row is told with its reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help=f"CSV with the columns {', '.join(ORDER_COLUMNS)}")
        parser.add_argument(
            "--stock",
            action="store_true",
            help=f"the file holds the first stock of products instead: {', '.join(STOCK_COLUMNS)}",
        )
        parser.add_argument(
            "--part",
            type=_part,
            metavar="K/N",
            default=(1, 1),
            help="take the K-th of N parts: N processes share one file",
        )
        parser.add_argument("--rate", type=_rate, metavar="N", help="place at most N rows a second")
        parser.add_argument("--json", action="store_true", help="print one JSON object; reasons go to stderr")

    def handle(self, *args: Any, file: Path, stock: bool, part: Part, **options: Any) -> None:
        self._rate: float | None = options["rate"]
        try:
            with file.open("rb") as opened:
                counts = self._import(file.name, opened, stock, part, options["json"])
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror or error}.") from error
        except UnreadableFile as error:
            raise CommandError(f"{file} cannot be used: {error}.") from error
        except OperationalError as error:
            raise CommandError(
                f"The database went away: {error}. What was imported stays; run the command again for the rest."
            ) from error
        if options["json"]:
            totals = {outcome.name.lower(): counts[outcome] for outcome in Outcome}
            self.stdout.write(json.dumps({"file": str(file), "rows": counts.total(), **totals}))
        else:
            self.stdout.write(f"{file.name}: {counted(counts)}.")

    def _import(self, name: str, file: BufferedReader, stock: bool, part: Part, as_json: bool) -> Counter[Outcome]:
        columns = STOCK_COLUMNS if stock else ORDER_COLUMNS
        sheet = Sheet(file, columns)
        counts: Counter[Outcome] = Counter()
        with self._report(name, file, as_json) as report:
            for column in sheet.ignored:
                report.say(f"{name}: column {column!r} is not known and is ignored.")
            for handled in self._paced((import_stock if stock else import_orders)(_share(sheet, part))):
                counts[handled.outcome] += 1
                report.row(handled)
        return counts

    def _paced(self, rows: Iterable[Handled]) -> Iterator[Handled]:
        begun = time.monotonic()
        for number, handled in enumerate(rows, start=1):
            yield handled
            if self._rate is not None:
                time.sleep(max(0.0, begun + number / self._rate - time.monotonic()))

    def _report(self, name: str, file: BufferedReader, as_json: bool) -> Report:
        out = self.stderr if as_json else self.stdout
        size = Path(file.name).stat().st_size
        return Bar(name, size, stderr=as_json) if out.isatty() else Lines(name, size, out)


def _part(text: str) -> Part:
    found = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", text)
    if found is None or int(found[1]) > int(found[2]):
        raise ArgumentTypeError(f"{text!r} is no part such as 1/2")
    return int(found[1]), int(found[2])


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no number of rows a second")
    return rate


def _share(rows: Iterable[Row], part: Part) -> Iterator[Row]:
    """The rows of one part: those that speak of the same order or product are all in the same one."""
    which, of = part
    for row in rows:
        name = row.cells.get("reference") or row.cells.get("product", "")
        if crc32(name.encode()) % of == which - 1:
            yield row
