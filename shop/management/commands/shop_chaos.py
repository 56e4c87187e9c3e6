"""`manage.py shop_chaos`: orders against an outside with all faults on, killed workers, and the proof at the end."""

from __future__ import annotations

import statistics
import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from shop.chaos.customers import Seen
from shop.chaos.plan import make_plan
from shop.chaos.proving import Facts, ends, failures, prove
from shop.chaos.run import Run
from shop.chaos.windows import WINDOWS
from shop.children import Stopped, Stopping
from shop.demo.world import World, own_world

MOST = 20_000


class Command(BaseCommand):
    help = (
        "Drive orders against a simulated outside that fails, hangs, lies and loses its answers, with SIGKILLs of"
        " workers in between; print how often what happened, and prove what must hold."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--orders", type=_orders, default=2_000, help=f"1 to {MOST}; 2000 unless given")
        parser.add_argument("--seed", type=int, default=1, help="the same seed has the same happen, as far as it can")

    def handle(self, *args: Any, orders: int, seed: int, **options: Any) -> None:
        self._begun = time.monotonic()
        try:
            with Stopping(), own_world("chaos", WINDOWS) as world:
                self._play(world, orders, seed)
        except Stopped as stopped:
            raise CommandError(f"Stopped by {stopped}; nothing of it runs any more.", returncode=130) from stopped

    def _play(self, world: World, orders: int, seed: int) -> None:
        plan = make_plan(orders, seed)
        self._say(
            f"{orders} orders within {plan.length_s:.0f} s, seed {seed}; database {world.database}, logs {world.logs}."
        )
        run = Run(plan, world, self._say)
        seen = run.go()
        self._say("Everything has come to rest.\n")
        self._tell_faults(run)
        self._tell_waits(seen)
        broken = 0
        for proof in prove(Facts(plan=plan, seen=seen, ledger=run.ledger, load=run.crew.load)):
            self.stdout.write(f"  {'BROKEN' if proof.broken else 'holds '}  {proof}")
            broken += bool(proof.broken)
        self._say("Over.")
        if broken:
            raise CommandError(f"{broken} of what must hold does not. Seed {seed}, {orders} orders.")

    def _tell_faults(self, run: Run) -> None:
        faults = run.ledger["faults"]
        asked = ", ".join(f"{count} {kind}" for kind, count in sorted(faults["asked"].items()))
        met = ", ".join(f"{count} {fault}" for fault, count in faults["met"].items())
        moved = ", ".join(f"{count} {why}" for why, count in sorted(run.ledger["movements"].items()))
        failed = ", ".join(f"{count} of {endpoint}" for endpoint, count in failures()) or "none"
        ways = ", ".join(f"{count} {how}" for how, count in ends()) or "none"
        self.stdout.write(
            f"Asked of the outside: {asked}\nFaults met: {met}\nShelves changed: {moved}\n"
            f"SIGKILLs: {run.kills}; failures that wait for a person: {failed}\nHow orders ended: {ways}\n"
        )

    def _tell_waits(self, seen: Seen) -> None:
        self.stdout.write("How long customers waited, ms   calls      p50      p99     most")
        for what, waits in sorted(seen.waits_ms.items()):
            p99 = statistics.quantiles(waits, n=100)[98] if len(waits) > 1 else waits[0]
            self.stdout.write(f"  {what:28}{len(waits):7}{statistics.median(waits):9.1f}{p99:9.1f}{max(waits):9.1f}")
        self.stdout.write("")

    def _say(self, sentence: str) -> None:
        self.stdout.write(f"{time.monotonic() - self._begun:6.1f} s  {sentence}")
        self.stdout.flush()


def _orders(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise ArgumentTypeError(f"{text!r} is no number from 1 to {MOST}")
    return int(text)
