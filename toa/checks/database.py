"""The database: PostgreSQL, READ COMMITTED, with time zones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.db import Error, connections
from psycopg import IsolationLevel

from toa.checks.ids import ISOLATION, NO_TIME_ZONES, NOT_POSTGRESQL, UNREACHABLE
from toa.checks.settings import problems_of_toa

OLDEST = 14
"""The oldest release of PostgreSQL that toa is written for."""

_REASON = "a row that waited for a lock must be seen as it is then"


def check_declared(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """What the settings say about the database; nothing is asked of it."""
    if list(problems_of_toa()):
        return []
    found: list[checks.CheckMessage] = []
    if not settings.USE_TZ:
        found.append(checks.Error("USE_TZ is off: moments would have no zone", hint="USE_TZ = True", id=NO_TIME_ZONES))
    alias = _alias()
    if connections[alias].vendor != "postgresql":
        found.append(
            checks.Error(
                f"the database {alias!r} is {connections[alias].display_name}: toa keeps its state in PostgreSQL",
                hint="DATABASES: django.db.backends.postgresql, or name another alias in TOA['DATABASE']",
                id=NOT_POSTGRESQL,
            )
        )
        return found
    level = connections[alias].settings_dict["OPTIONS"].get("isolation_level")
    if level not in (None, IsolationLevel.READ_COMMITTED):
        name = IsolationLevel(level).name.replace("_", " ")
        found.append(
            checks.Error(
                f"the database {alias!r} is set to {name}: {_REASON}",
                hint="leave OPTIONS['isolation_level'] out, or set it to READ COMMITTED",
                id=ISOLATION,
            )
        )
    return found


def check_server(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """What the server itself says, where Django allows it to be asked: in `migrate` and `check --database`."""
    if list(problems_of_toa()) or _alias() not in (databases or ()):
        return []
    connection = connections[_alias()]
    if connection.vendor != "postgresql":
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('server_version_num')::int, current_setting('transaction_isolation')"
            )
            version, isolation = cursor.fetchone()
    except Error as error:
        sentence = str(error).strip().partition("\n")[0]
        return [checks.Warning(f"the database {_alias()!r} could not be asked: {sentence}", id=UNREACHABLE)]
    found: list[checks.CheckMessage] = []
    if version < OLDEST * 10_000:
        found.append(
            checks.Error(
                f"the database {_alias()!r} is PostgreSQL {version // 10_000}: too old",
                hint=f"PostgreSQL {OLDEST} or newer",
                id=NOT_POSTGRESQL,
            )
        )
    if isolation != "read committed":
        found.append(
            checks.Error(
                f"the server gives the database {_alias()!r} transactions that are {isolation.upper()}: {_REASON}",
                hint="ALTER ROLE … RESET default_transaction_isolation, or ALTER DATABASE …",
                id=ISOLATION,
            )
        )
    return found


def _alias() -> str:
    return str(getattr(settings, "TOA", {}).get("DATABASE", "default"))
