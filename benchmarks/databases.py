"""The databases of a run: one with the tables, and for each part a copy of it that is dropped afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from config import servers

SETTINGS = "benchmarks.settings"
COPIED = "BENCH_DATABASE"
"""The environment variable that names the database to copy; without it a part makes its tables itself."""

_END_CLIENTS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = %s AND backend_type = 'client backend' AND usename = current_user
"""


def database_name(pid: int) -> str:
    """Of the benchmark that runs in this process."""
    return f"toa_bench_{pid}"


def drop(name: str) -> None:
    """Drop it, whoever is connected, if it is there."""
    with psycopg.connect(servers.database_url(), autocommit=True) as connection:
        for last in (False, False, True):
            # WITH (FORCE) may not end autovacuum, which is not this role's; without it the server asks it to leave.
            connection.execute(_END_CLIENTS, [name])
            try:
                connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
            except psycopg.errors.ObjectInUse:
                if last:
                    raise
            else:
                return


@contextmanager
def prepared() -> Iterator[None]:
    """Parts that are started in the body copy their tables, which takes them a tenth of the time."""
    name = database_name(os.getpid())
    try:
        subprocess.run([sys.executable, "-W", "ignore", "-m", "benchmarks.databases", name], check=True)
        os.environ[COPIED] = name
        yield
    finally:
        os.environ.pop(COPIED, None)
        drop(name)


@contextmanager
def database(settings_module: str = SETTINGS) -> Iterator[None]:
    """Django with a fresh database that is dropped afterwards, where the process is asked to end too."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("asked to end"))
    os.environ["DJANGO_SETTINGS_MODULE"] = settings_module
    import django
    from django.conf import settings

    settings.DEBUG = False
    django.setup()
    from django.db import connection, connections

    name = database_name(os.getpid())
    try:
        # All settings of the benchmarks have the same tables.
        if COPIED in os.environ and settings_module.startswith("benchmarks."):
            _execute(f'CREATE DATABASE "{name}" TEMPLATE "{os.environ[COPIED]}"')
            settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name
        else:
            _create(name)
        yield
    finally:
        connections.close_all()
        drop(name)


def _create(name: str) -> None:
    from django.conf import settings
    from django.db import connection

    settings.DATABASES["default"]["TEST"]["NAME"] = name
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)


def _execute(statement: str) -> None:
    with psycopg.connect(servers.database_url(), autocommit=True) as connection:
        connection.execute(statement)


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    import django

    django.setup()
    _create(sys.argv[1])
