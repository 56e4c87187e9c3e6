"""PostgreSQL restarted, and the broker down for ten seconds, each while calls come due."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config.servers.lock import starting_alone
from config.servers.place import Place
from config.servers.postgres import Postgres
from config.servers.valkey import Valkey
from shop.children import CHECKOUT
from tests.environment.conftest import new_checkout, place
from tests.faults.crew import Crew, wait_for

__all__ = ["new_checkout", "place"]

pytestmark = [pytest.mark.processes, pytest.mark.slow]

ARM = """
import django
django.setup()
import toa
from toa.runtime import clock
row = toa.call("components.hazards.create", {})["id"]
begins = clock.clock().now() + 500
for place in range(60):
    at = begins + place * 100
    if place % 6:
        toa.delay("components.hazards.touch", {"query": {"id": row}, "input": {}}, at=at, overdue=None)
    else:
        toa.delay("components.hazards.shout", {"input": {"path": OUTSIDE}}, at=at, overdue=None)
"""
TRANSITIONS, EFFECTS = 50, 10


class Site:
    """A database and a broker of its own, with a beat and a worker on them."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.postgres, self.valkey = Postgres(place=place), Valkey(place=place)
        self.outside = folder / "outside"
        self.start(self.postgres)
        self.start(self.valkey)
        self.environment = {
            **os.environ,
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.valkey.url,
            "DJANGO_SETTINGS_MODULE": "tests.process_settings",
        }
        self.run("manage.py", "migrate", "--run-syncdb", "-v", "0")
        self.crew = Crew(self.environment, folder)
        self.crew.beat(), self.crew.worker()
        up = "SELECT count(DISTINCT kind) FROM toa_process WHERE kind IN ('beat', 'worker')"
        wait_for(lambda: self.ask(up) == [(2,)], self.crew, "the start")

    def start(self, server: Any) -> None:
        with starting_alone(self.place):
            server.start(say=[].append)

    def stop(self, server: Any) -> None:
        with starting_alone(self.place):
            server.stop()

    def run(self, *command: str) -> None:
        done = subprocess.run(
            [sys.executable, *command], cwd=CHECKOUT, env=self.environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    def ask(self, statement: str) -> list[Any]:
        """The answer of the database; nothing while it is away."""
        try:
            with psycopg.connect(self.postgres.url, autocommit=True) as connection:
                return connection.execute(statement).fetchall()  # type: ignore[call-overload, no-any-return]
        except psycopg.OperationalError:
            return []

    def outage(self, server: Any, seconds: float, name: str) -> str:
        """Take a server away while calls come due, and put it back; tells how long it took until all was made."""
        self.run("-c", f"OUTSIDE = {str(self.outside)!r}\n{ARM}")
        wait_for(lambda: self.ask("SELECT count(*) > 2 FROM toa_history") == [(True,)], self.crew, "the first call")
        self.stop(server)
        away = time.monotonic()
        wait_for(lambda: time.monotonic() - away >= seconds, self.crew)
        self.start(server)
        took = wait_for(lambda: self.ask("SELECT count(*) FROM toa_delay") == [(0,)], self.crew, f"all after {name}")
        made = Counter(self.ask("SELECT call FROM toa_history WHERE outcome = 'made' AND source = 'delay'"))
        assert len(made) == TRANSITIONS + EFFECTS
        assert set(made.values()) == {1}
        assert self.ask("SELECT sum(count) FROM components_hazards_hazard") == [(TRANSITIONS,)]
        assert self.ask("SELECT count(*) FROM toa_failure") == [(0,)]
        shouts = Counter(self.outside.read_text().split())
        assert len(shouts) == EFFECTS
        return (
            f"  {name:<45} all done {took:4.1f} s after it was back; {sum(shouts.values()) - EFFECTS} effects repeated"
        )


@pytest.fixture
def site(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Site]]:
    monkeypatch.setenv("TOA_FAST_DATABASE", "1")
    made: list[Site] = []

    def make() -> Site:
        made.append(Site(place, tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.crew.end()


def test_D14_postgresql_restarted_while_calls_come_due(site, capsys):
    here = site()
    told = here.outage(here.postgres, 0.0, "PostgreSQL restarted")
    with capsys.disabled():
        print(f"\n{told}")


def test_D13_the_broker_down_for_ten_seconds_while_calls_come_due(site, capsys):
    here = site()
    told = here.outage(here.valkey, 10.0, "broker down for ten seconds")
    with capsys.disabled():
        print(f"\n{told}")
