"""The calls that a schedule makes, as rows: one for each occurrence, or for each object of a declared sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from toa.cadence.calls.live import Live
from toa.cadence.calls.rows import fresh
from toa.cadence.schedules.calendars import entity_of
from toa.core.clock import to_datetime, to_moment
from toa.core.criteria_now import at_moment
from toa.core.criteria_text import to_text
from toa.core.identity import uuid7
from toa.core.owing import Owed
from toa.core.query import parse_query
from toa.exceptions import InvalidInput, InvalidQuery
from toa.models import Schedule
from toa.runtime import bindings, settings
from toa.runtime.selecting import select_ids
from toa.runtime.sql import insert_rows

_LIVE = """
SELECT schedule, count(DISTINCT at), bool_or(made_up) FROM toa_scheduledcall
 WHERE schedule = ANY(%s) GROUP BY schedule
"""


@dataclass(frozen=True, slots=True)
class Running:
    """What of a schedule is being made, or waits to be."""

    occurrences: int = 0
    making_up: bool = False
    """Whether a call that makes up for a missed occurrence is among them."""


def running(schedules: Sequence[UUID]) -> dict[UUID, Running]:
    """What is being made, by schedule; those of which nothing is are left out."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_LIVE, [list(schedules)])
        return {identity: Running(count, made_up) for identity, count, made_up in cursor.fetchall()}


def rows_of(row: Schedule, owed: Owed, now: int, *, made_up: bool, asked_by: str = "") -> list[dict[str, Any]]:
    """The rows of one occurrence, ready to be inserted; none where a sweep finds nobody.

    Reads the objects of a sweep. Raises InvalidQuery where its criteria do not fit the entity any more.
    """
    cause = {"schedule": row.id.hex, "at": owed.at}
    if owed.missed:
        cause |= {"last": owed.last, "missed": owed.missed}
    if owed.jitter:
        cause["jitter_ms"] = owed.jitter
    if asked_by:
        cause["asked_by"] = asked_by
    requests = _requests(row, owed, now)
    # Late is measured from the last occurrence that the call stands for.
    overdue = None if row.overdue_ms is None else row.overdue_ms + owed.planned_last - owed.planned
    return [
        fresh(uuid7(), row.endpoint, request, due=owed.planned, now=now, cause=cause)
        | {
            "schedule": row.id,
            "at": to_datetime(owed.at),
            "entity": entity,
            "overdue_ms": overdue,
            "beside": row.overlap == "allow" and not made_up,
            "made_up": made_up,
        }
        for entity, request in requests
    ]


def leased_now(row: Schedule, now: int, token: UUID, lease_ms: int, asked_by: str) -> Live:
    """Store the call of a schedule beside its calendar, under a lease for whoever has the token."""
    owed = Owed(at=now, last=now, missed=0, planned=now, planned_last=now)
    (stored,) = rows_of(row, owed, now, made_up=False, asked_by=asked_by)
    store([stored | {"token": token, "wake_at": to_datetime(now + lease_ms)}])
    return Live(
        id=stored["id"],
        endpoint=row.endpoint,
        request=stored["request"].obj,
        due=now,
        wake=now + lease_ms,
        attempt=0,
        strikes=0,
        chain=(),
        cause=stored["cause"].obj,
        token=token,
        mark=None,
        **described([stored["entity"], stored["at"], stored["overdue_ms"]]),
    )


def occurrence_of(cause: dict[str, Any]) -> dict[str, Any]:
    """The columns of a schedule's call that its cause tells: for a call that is made once more.

    It stands in the order of its schedule as any call of that occurrence; alone where that schedule is gone.
    """
    schedule = Schedule.objects.using(settings.alias()).filter(id=UUID(cause["schedule"])).first()
    return {
        "schedule": UUID(cause["schedule"]),
        "at": to_datetime(cause["at"]),
        "beside": schedule is None or schedule.overlap == "allow",
        "made_up": False,
    }


def store(rows: Sequence[dict[str, Any]]) -> None:
    """Insert the rows, in the open transaction."""
    insert_rows("toa_scheduledcall", rows)


def _requests(row: Schedule, owed: Owed, now: int) -> list[tuple[str, dict[str, Any]]]:
    if row.query is not None:
        return _swept(row, now)
    return [(entity_of(row.id), {"input": _input(row.endpoint, owed), "query": None})]


def _input(endpoint: str, owed: Owed) -> dict[str, int]:
    """`{at, last, missed}` where the operation takes them, else `{at}`."""
    whole = {"at": owed.at, "last": owed.last, "missed": owed.missed}
    try:
        bindings.operation(endpoint).input.check(dict(whole))
    except InvalidInput:
        return {"at": owed.at}
    return whole


def _swept(row: Schedule, now: int) -> list[tuple[str, dict[str, Any]]]:
    """A request for each object that a sweep finds, in its order. The criteria are looked at again at each call."""
    operation = bindings.operation(row.endpoint)
    entity = operation.component.spec.entity
    if entity is None:
        raise InvalidQuery(f"{row.endpoint}: a sweep needs an entity")
    query = parse_query(row.query, entity, allow_now=True, limit_required=True)
    same = {} if query.criteria is None else {"criteria": to_text(at_moment(query.criteria, now))}
    locator = operation.component.locator
    return [
        (f"{locator}:{identity}", {"input": row.input, "query": {"id": identity, **same}})
        for identity in select_ids(operation.component, query)
    ]


def described(extra: Sequence[Any]) -> dict[str, Any]:
    """From the columns `EXTRA` to what a stored call is described by."""
    entity, at, overdue = extra
    return {"source": "schedule", "entity": entity, "base": to_moment(at), "overdue": overdue}


EXTRA = "entity, at, overdue_ms"
