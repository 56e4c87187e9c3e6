"""Moments that toa can read: those of the years 1 to 9999. PostgreSQL's own go further, to infinity both ways.

One row with another would break the statement that looks for what is due, and with it every pass.
"""

from __future__ import annotations

from django.db.models import CheckConstraint, Q

from toa.core.clock import GREATEST, LEAST, to_datetime

FIRST, LAST = to_datetime(LEAST), to_datetime(GREATEST)

READABLE = f"BETWEEN '{FIRST.isoformat()}'::timestamptz AND '{LAST.isoformat(timespec='milliseconds')}'::timestamptz"
"""Condition as SQL on an expression of type timestamptz, constant, so that it is a range of an index."""


def readable(*fields: str, name: str) -> CheckConstraint:
    """A rule that the database holds: each of these columns, where it is set, is a moment that toa can read."""
    condition = Q()
    for field in fields:
        condition &= Q(**{f"{field}__range": (FIRST, LAST)})
    return CheckConstraint(condition=condition, name=name)
