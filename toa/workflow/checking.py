"""Whether stored runs could go on with the code that is here: each is replayed in memory, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError, connections, transaction

from toa.core.traces import sentence
from toa.exceptions import UnknownEndpoint
from toa.models import Run
from toa.runtime import settings
from toa.workflow import rows
from toa.workflow.opening import opened
from toa.workflow.pauses import Broken

PAGE = 200
"""Runs that are listed by one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the present code would make of a run."""

    id: UUID
    endpoint: str
    steps: int
    error: str
    """Why it would break, naming both steps where it takes another path; empty where it goes on."""

    @property
    def holds(self) -> bool:
        return not self.error


def check(endpoint: str | None = None) -> Iterator[Checked]:
    """Replay every run on its way, of one endpoint or of all, as far as its journal goes.

    To be run with the code of a release before that is rolled out. What a run would do beyond its journal is computed
    and not done.
    """
    last: UUID | None = None
    while True:
        found = Run.objects.using(settings.alias()).order_by("id")
        if endpoint is not None:
            found = found.filter(endpoint=endpoint)
        if last is not None:
            found = found.filter(id__gt=last)
        page = list(found.values_list("id", flat=True)[:PAGE])
        for identity in page:
            checked = _check(identity)
            if checked is not None:
                yield checked
        if len(page) < PAGE:
            return
        last = page[-1]


def _check(identity: UUID) -> Checked | None:
    with transaction.atomic(using=settings.alias()):
        if not connections[settings.alias()].savepoint_ids:
            with connections[settings.alias()].cursor() as cursor:
                cursor.execute("SET TRANSACTION READ ONLY")
        row = rows.peek(identity)
        if row is None:
            return None  # it ended meanwhile
        error = ""
        try:
            machine = opened(row, 0)
            try:
                pause = machine.advance()
            finally:
                machine.close()
            # A run that rests after a failure would meet the same again: that its path holds is what was asked.
            if isinstance(pause, Broken) and row.failed_at is None:
                error = sentence(pause.error)
        except DatabaseError:
            raise
        except UnknownEndpoint as unknown:
            error = str(unknown)
        except Exception as broken:
            error = sentence(broken)
    return Checked(id=identity, endpoint=row.endpoint, steps=row.steps, error=error)
