"""A world of the demo's own: a fresh database, a part of the broker, logs. The data of development stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection, connections
from psycopg import sql

from config import servers
from shop.children import Child, manage

WINDOW_S = 6
"""How long an order of the demo may stay unpaid."""
SWEEP_S = 1
"""How often unpaid orders are swept in the demo."""
SYNC_S = 2
"""How often the stock is compared with the warehouse in the demo."""
GRACE_MS = 200
"""How long a product has to be quiet in the demo until its figure is set."""


WINDOWS: Mapping[str, str] = {
    "TOA_SHOP_WINDOW": f"{WINDOW_S}s",
    "TOA_SHOP_SWEEP": str(SWEEP_S),
    "TOA_SHOP_SYNC": str(SYNC_S),
    "TOA_FULFILMENT_STOCK_GRACE": f"{GRACE_MS}ms",
}
"""What the environment of the demo's processes says about the shop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where the demo, or another run with processes of its own, happens."""

    database: str
    prefix: str
    """Before each name that it has in the broker."""
    logs: Path
    environment: Mapping[str, str]
    """For its processes."""

    def empty_broker(self) -> int:
        """Delete everything that it has in the broker; returns how many keys there were."""
        with redis.Redis.from_url(self.environment["REDIS_URL"]) as client:
            keys = list(client.scan_iter(match=f"{self.prefix}*", count=1000))
            return client.delete(*keys) if keys else 0


@contextmanager
def own_world(what: str = "demo", windows: Mapping[str, str] = WINDOWS) -> Iterator[World]:
    """Make the world anew, and point this process at its database. The database stays, to be looked at.

    `what` names it; `windows` is what the environment of its processes says about the shop. Raises CommandError where
    another one of that name runs on the same database server, or a database cannot be created.
    """
    home = connection.settings_dict["NAME"]
    world = _world(f"{home}_{what}", windows)
    with psycopg.connect(**_parameters(), autocommit=True) as keeper:
        # Held until the end by this very session.
        taken = keeper.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [world.database]).fetchone()
        if not taken or not taken[0]:
            raise CommandError(f"Another {what} is running on the database {world.database}.")
        _clear(world.logs)
        _create(keeper, world.database)
        connections.close_all()
        settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = world.database
        try:
            world.empty_broker()
            _migrate(world)
            yield world
        finally:
            world.empty_broker()
            connections.close_all()
            settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = home


def _world(database: str, windows: Mapping[str, str]) -> World:
    prefix = f"{database}:"
    environment = {
        **os.environ,
        "DATABASE_URL": urlsplit(servers.database_url())._replace(path=f"/{database}").geturl(),
        "REDIS_URL": servers.broker_url(),
        "BROKER_PREFIX": prefix,
        **windows,
    }
    logs = servers.here().data / "logs" / database
    return World(database=database, prefix=prefix, logs=logs, environment=environment)


def _clear(logs: Path) -> None:
    servers.here().prepare()
    logs.mkdir(parents=True, exist_ok=True)
    for log in logs.glob("*.log"):
        log.unlink()


def _create(keeper: psycopg.Connection, database: str) -> None:
    name = sql.Identifier(database)
    try:
        keeper.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        keeper.execute(sql.SQL("CREATE DATABASE {}").format(name))
    except psycopg.Error as error:
        raise CommandError(f"A database of its own is needed, {database}: {error}") from error


def _migrate(world: World) -> None:
    migrating = Child(
        "migrate", manage("migrate", "--verbosity=0"), environment=world.environment, log=world.logs / "migrate.log"
    )
    try:
        if migrating.end():
            raise CommandError(f"The database {world.database} could not be migrated.\n{migrating.last_words()}")
    finally:
        migrating.kill()


def _parameters() -> dict[str, Any]:
    """How this process reaches its database, without what only Django's own connections take."""
    ours = ("cursor_factory", "context", "server_side_binding", "pool")
    return {name: value for name, value in connection.get_connection_params().items() if name not in ours}
