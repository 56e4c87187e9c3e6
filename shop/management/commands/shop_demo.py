"""`manage.py shop_demo`: the shop on short windows, told as it happens, and proved at the end."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from shop.children import Stopped, Stopping
from shop.demo.house import DRIFTING
from shop.demo.proving import Facts, lateness, prove
from shop.demo.screen import screen
from shop.demo.story import STOCK, Story
from shop.demo.world import World, own_world


class Command(BaseCommand):
    help = "Show the shop at work on short windows, with a killed worker and an emptied broker; prove what must hold."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        begun = time.monotonic()
        try:
            with Stopping(), own_world() as world:
                self._play(world)
        except Stopped as stopped:
            raise CommandError(f"Stopped by {stopped}; nothing of the demo runs any more.", returncode=130) from stopped
        self.stdout.write(f"The demo took {time.monotonic() - begun:.0f} s.")

    def _play(self, world: World) -> None:
        with screen() as shown:
            shown.say(f"The demo has a database of its own, {world.database}. Beat and two workers start.")
            story = Story(world, shown)
            told = story.tell()
        customers = story.customers
        self.stdout.write(
            f"\n{told.placed} orders; {len(customers.accepted)} payments taken,"
            f" {len(customers.refused)} came too late.\n"
        )
        facts = Facts(
            placed=told.placed,
            paid=customers.accepted,
            stock=STOCK,
            shelves=told.shelves,
            drifting=DRIFTING,
            load=story.crew.load,
        )
        proofs = list(prove(facts))
        for proof in proofs:
            self.stdout.write(f"  {'BROKEN' if proof.broken else 'holds '}  {proof}")
        self.stdout.write("\nLateness in ms    calls      p50      p99     most")
        for one in lateness():
            self.stdout.write(f"  {one.what:14}{one.calls:7}{one.p50:9.0f}{one.p99:9.0f}{one.most:9.0f}")
        self.stdout.write(
            f"\nNext: `make run` keeps the shop open, with its admin at http://localhost:8000/admin/.\n"
            f"The demo's data stays in the database {world.database} until the next demo; its logs: {world.logs}.\n"
            f"The orders' manifest is store/orders/manifest.toa.yaml, their operations are beside it."
        )
        broken = [proof for proof in proofs if proof.broken]
        if broken:
            raise CommandError("; ".join(f"not so: {proof}" for proof in broken))
