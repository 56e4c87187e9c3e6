"""Failures that wait for a decision, as an operator looks at them: by pages, oldest first, or one by its id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from toa.cadence.reports.armed import MOST, PAGE
from toa.cadence.reports.marks import behind, mark, read_mark
from toa.core.clock import to_datetime
from toa.exceptions import InvalidQuery
from toa.models import Failure
from toa.runtime import settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some failures, oldest first."""

    failures: tuple[Failure, ...]
    after: str | None
    """The mark where the next page begins; null where there is none."""


def page(
    *, endpoint: str | None = None, entity: str | None = None, limit: int = PAGE, after: str | None = None
) -> Page:
    """Failures of one endpoint, of one entity (`component:id`), or all; at most `limit` of them (1 to 1000).

    `after` is the mark of the page before. Raises InvalidQuery.
    """
    if not 1 <= limit <= MOST:
        raise InvalidQuery(f"a page has 1 to {MOST} failures, not {limit}")
    rows = _rows(endpoint, entity)
    if after is not None:
        rows = rows.filter(behind("at", *read_mark(after)))
    found = list(rows[: limit + 1])
    shown = tuple(found[:limit])
    last = shown[-1] if len(found) > limit else None
    return Page(failures=shown, after=None if last is None else mark(last.at, last.id))


def identities(*, endpoint: str | None, until: int, limit: int | None) -> Iterator[UUID]:
    """The ids of failures up to a moment (epoch ms), oldest first, at most `limit`; read page by page.

    What fails again while they are decided is younger than that, and is not met a second time.
    """
    rows = _rows(endpoint, None).filter(at__lte=to_datetime(until))
    place: tuple[datetime, UUID] | None = None
    left = limit
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        ahead = rows if place is None else rows.filter(behind("at", *place))
        found = list(ahead.values_list("at", "id")[:size])
        for _, identity in found:
            yield identity
        if len(found) < size:
            return
        place = found[-1]
        left = None if left is None else left - len(found)


def find(identity: UUID) -> Failure | None:
    """The failure of that id, or the one of the call of that id."""
    rows = Failure.objects.using(settings.alias())
    return rows.filter(id=identity).first() or rows.filter(call=identity).first()


def _rows(endpoint: str | None, entity: str | None) -> QuerySet[Failure]:
    rows = Failure.objects.using(settings.alias()).order_by("at", "id")
    if endpoint is not None:
        rows = rows.filter(endpoint=endpoint)
    if entity is not None:
        rows = rows.filter(entity=entity)
    return rows
