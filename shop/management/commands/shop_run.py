"""`manage.py shop_run`: web, workers, beat and a simulated warehouse in one terminal, until Ctrl-C."""

from __future__ import annotations

import os
import secrets
import time
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from config import servers
from config.servers.valkey import is_free
from shop.children import Child, Stopped, Stopping, beat, end_all, manage, worker
from shop.environment import ADDRESS, reaching
from shop.supervising import Supervisor
from shop.visiting import demo_login
from store.orders.models import Order

HOST = "127.0.0.1"
UP_WITHIN_S = 30.0
DRIFT = 0.02
"""Shelves of the simulated warehouse that change by themselves, each second."""
DATA = Path(settings.BASE_DIR) / "store" / "data"


class Command(BaseCommand):
    help = "Run the shop: web, workers, beat and a simulated warehouse, with the admin at localhost, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000), help="of the web (8000)")

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError(
                "shop_run makes a login for development; where DEBUG is off, start each process by itself."
            )
        if not is_free(port):
            raise CommandError(
                f"Port {port} is taken by another program. Stop it, or choose another: PORT=8001 make run"
            )
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError("The database is not up to date. Run `make setup`, or `manage.py migrate`.")
        place = servers.here()
        place.prepare()
        self._logs = place.data / "logs" / "run"
        self._logs.mkdir(parents=True, exist_ok=True)
        supervisor = Supervisor(say=self._say)
        self._reached: dict[str, str] = {}
        try:
            with Stopping():
                self._run(supervisor, port)
        except Stopped:
            self._say("Stopping.")
        finally:
            supervisor.end()

    def _run(self, supervisor: Supervisor, port: int) -> None:
        outside = self._simulate(supervisor, port + 100)
        web = ["-m", "gunicorn", "config.wsgi", "-b", f"{HOST}:{port}", "-w", "2", "--access-logfile", "-"]
        for name, command in (
            ("web", web),
            ("worker", worker("ticks", "toa", 2)),
            ("worker-calls", worker("calls", "toa.calls,celery", 2)),
            ("beat", beat()),
        ):
            supervisor.keep(name, partial(self._child, name, command))
        if not Order.objects.exists():
            self._load()
        self._wait_for_the_web(supervisor, port)
        login = demo_login()
        self._say(
            f"The shop runs. Admin: http://localhost:{port}/admin/  user {login.name}, password {login.password}\n"
            f"{outside}\n"
            f"Logs: {self._logs}. Ctrl-C stops all of it."
        )
        while True:
            supervisor.look()
            time.sleep(0.2)

    def _simulate(self, supervisor: Supervisor, port: int) -> str:
        """Start the simulated outside, unless the environment says where the warehouse is; returns a sentence on it."""
        if os.environ.get(ADDRESS):
            return f"Warehouse: {os.environ[ADDRESS]}, as {ADDRESS} says."
        if not is_free(port):
            raise CommandError(f"Port {port}, for the simulated warehouse, is taken by another program. Stop it.")
        address = f"http://{HOST}:{port}"
        self._reached = reaching(address, secrets.token_urlsafe(16))
        options = ["--port", str(port), "--drift", str(DRIFT), "--picking", "20s", "--shelves", str(DATA / "stock.csv")]
        state = servers.here().data / "warehouse.jsonl"
        command = manage("warehouse", *options, "--state", str(state))
        supervisor.keep("warehouse", partial(self._child, "warehouse", command))
        return f"Warehouse, courier and payment provider, simulated: {address}/"

    def _load(self) -> None:
        """The shop's own orders: a third expires by the sweep, a third by an alarm for each, a third by its process."""
        self._say("The shop is empty: its stock and orders are loaded.")
        self._import("stock", "--stock", str(DATA / "stock.csv"))
        for number, expiry in enumerate(("sweep", "alarm", "process"), start=1):
            self._import(expiry, str(DATA / "orders.csv"), "--part", f"{number}/3", TOA_SHOP_EXPIRY=expiry)

    def _import(self, name: str, *arguments: str, **environment: str) -> None:
        loading = self._child(f"import-{name}", manage("shop_import", *arguments), **environment)
        try:
            if loading.end():
                raise CommandError(f"The import failed; its log is {loading.log}.\n{loading.last_words()}")
        finally:
            end_all([loading])
        self._say(f"  {loading.last_words(1)}")

    def _wait_for_the_web(self, supervisor: Supervisor, port: int) -> None:
        give_up = time.monotonic() + UP_WITHIN_S
        while is_free(port):
            supervisor.look()
            if time.monotonic() > give_up:
                raise CommandError(f"The web does not come up; its log is {self._logs / 'web.log'}.")
            time.sleep(0.1)

    def _child(self, name: str, command: list[str], **environment: str) -> Child:
        return Child(
            name, command, environment={**os.environ, **self._reached, **environment}, log=self._logs / f"{name}.log"
        )

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
