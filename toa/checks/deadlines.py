"""Whether the database has the indexes that claims of deadlines need, and rows that no claim can take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db import Error, connections

from toa.cadence.deadlines.due import components
from toa.cadence.deadlines.indexed import lacking
from toa.cadence.reports.health import READABLE_ADVICE, unreadable_said
from toa.cadence.reports.status import unreadable_rows
from toa.checks.ids import UNINDEXED, UNREADABLE
from toa.checks.settings import problems_of_toa
from toa.runtime import settings


def check_indexes(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """A warning for each component whose deadlines no process will claim.

    Not an error: it is told before the migration that mends it, too.
    """
    if not _may_ask(databases):
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


def check_moments(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """A warning for each component with rows that never come due, because SQL gave them a moment before all time."""
    if not _may_ask(databases):
        return []
    try:
        found = unreadable_rows()
    except (Error, LookupError):
        return []
    return [
        checks.Warning(unreadable_said(locator, rows), hint=READABLE_ADVICE, obj=locator, id=UNREADABLE)
        for locator, rows in found.items()
    ]


def _may_ask(databases: Sequence[str] | None) -> bool:
    if list(problems_of_toa()) or settings.alias() not in (databases or ()):
        return False
    return connections[settings.alias()].vendor == "postgresql"
