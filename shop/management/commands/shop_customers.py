"""`manage.py shop_customers`: a part of the customers of a chaos run, as a process of its own."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from shop.chaos.customers import shop
from shop.chaos.plan import make_plan


class Command(BaseCommand):
    help = "Place, pay and give up the orders of a chaos run; writes down what was answered and how long it took."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("out", type=Path, help="a file for what was answered, as JSON")
        parser.add_argument("--orders", type=int, required=True)
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument("--begins", type=float, required=True, help="when the run begins: seconds since 1970")
        parser.add_argument("--part", type=int, required=True, help="which part of the customers, from 0")
        parser.add_argument("--of", type=int, required=True, help="of how many parts")

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        wishes = make_plan(options["orders"], options["seed"]).wishes[options["part"] :: options["of"]]
        seen = shop(wishes, options["begins"])
        # A file that is there is whole.
        beside = out.with_suffix(".part")
        beside.write_text(json.dumps(seen.document()), encoding="utf-8")
        beside.rename(out)
