"""Whether the database has the indexes that claims of deadlines need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db import Error, connections

from toa.cadence.deadlines.due import components
from toa.cadence.deadlines.indexed import lacking
from toa.checks.ids import UNINDEXED
from toa.checks.settings import problems_of_toa
from toa.runtime import settings


def check_indexes(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """A warning for each component whose deadlines no process will claim.

    Not an error: it is told before the migration that mends it, too.
    """
    if list(problems_of_toa()) or settings.alias() not in (databases or ()):
        return []
    if connections[settings.alias()].vendor != "postgresql":
        return []
    try:
        found = lacking(components())
    except (Error, LookupError):
        return []  # other checks tell of a database that cannot be asked, and of a missing model
    return [
        checks.Warning(
            f"{why}: no process claims the deadlines of {locator} until it is there",
            hint="manage.py migrate; an index that is not valid is dropped first, and made again",
            obj=locator,
            id=UNINDEXED,
        )
        for locator, why in found.items()
    ]
