"""Brings the development database up to date: `python -m config.development`, run by `make setup`.

Migrating takes a second or two even where nothing is left to do, so what was migrated is remembered with the
checkout's own database. Elsewhere (`DATABASE_URL`) the database is asked each time.
"""

import hashlib
import os
import sys
from pathlib import Path

from config import servers

# Everything that can decide about tables: models come from manifests, and `migrate` syncs these into rows.
SOURCES = ("config", "fulfilment", "loyalty", "shop", "store", "toa")
SUFFIXES = {".json", ".py", ".yaml"}


def fingerprint(checkout: Path) -> str:
    """A digest of the source that tables and their first rows come from."""
    digest = hashlib.sha256()
    for package in SOURCES:
        for path in sorted((checkout / package).rglob("*")):
            if path.suffix in SUFFIXES:
                digest.update(str(path.relative_to(checkout)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def migrate() -> None:
    import django
    from django.core.management import call_command

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


def bring_up_to_date() -> None:
    """Migrate the development database, unless it is known to be up to date.

    Raises:
        ServerProblem: it cannot be reached.
    """
    # First the server: a new database removes the stamp of the one before.
    servers.database_url()
    stamp = servers.here().data / "migrated"
    current = fingerprint(servers.CHECKOUT)
    own = not os.environ.get("DATABASE_URL")
    if own and stamp.exists() and stamp.read_text() == current:
        return
    servers.say("Migrating the development database.")
    from django.db import OperationalError

    try:
        migrate()
    except OperationalError as error:
        raise servers.ServerProblem(f"The database does not do as it is asked: {error}") from error
    if own:
        stamp.write_text(current)


def main() -> int:
    try:
        bring_up_to_date()
    except servers.ServerProblem as problem:
        servers.say(str(problem).strip())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
