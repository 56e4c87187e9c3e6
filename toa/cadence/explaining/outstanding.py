"""What is still to be made for one object: events on their way, and stored calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db import connections

from toa.cadence.calls.due import DELAYS, DELIVERIES
from toa.cadence.calls.live import Kind
from toa.cadence.calls.orphans import orphans_of
from toa.cadence.explaining.facts import SHOWN, Armed, OnItsWay, Unmade
from toa.core.clock import to_moment
from toa.models import Delay, Delivery, Failure
from toa.runtime import settings
from toa.runtime.bindings import Component

AHEAD = 1_000
"""How many pending calls of each of the component's endpoints are looked through for those aimed at the object."""

_HEADS = """
SELECT c.id, h.id FROM unnest(%s::uuid[]) AS f(id) JOIN toa_delivery c ON c.id = f.id
 CROSS JOIN LATERAL (SELECT b.id FROM toa_delivery b
   WHERE b.source = c.source AND b.source_id = c.source_id AND b.receiver = c.receiver
   ORDER BY b.version, b.position LIMIT 1) h
"""
_AIMED = """
SELECT d.id FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (
    SELECT c.id, c.request FROM toa_delay c WHERE c.endpoint = e.endpoint ORDER BY c.wake_at, c.id LIMIT %s) d
 WHERE d.request -> 'query' ->> 'id' = %s LIMIT %s
"""
_MORE = """
SELECT bool_or(d.n > %s) FROM unnest(%s::text[]) AS e(endpoint) CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM (SELECT 1 FROM toa_delay c WHERE c.endpoint = e.endpoint LIMIT %s) s) d
"""


def deliveries(component: Component, identity: str) -> tuple[OnItsWay, ...]:
    """The events that are on their way to the object or from it, those to it first, oldest first."""
    rows = Delivery.objects.using(settings.alias())
    incoming = rows.filter(receiver=component.locator, target=identity).order_by("created_at")[:SHOWN]
    outgoing = rows.filter(source=component.locator, source_id=identity).order_by("receiver", "version", "position")
    found = {row.id: row for row in [*incoming, *outgoing[:SHOWN]]}
    heads = _heads(list(found))
    failures = {
        row.call: row for row in Failure.objects.using(settings.alias()).filter(call__in={*found, *heads.values()})
    }
    first = rows.in_bulk(set(heads.values()) - set(found)) | found
    unmade = _unmade(DELIVERIES.kind, first)
    stopped = _stopped(found.values())
    return tuple(
        OnItsWay(
            id=row.id.hex,
            event=row.event,
            endpoint=row.endpoint,
            incoming=row.receiver == component.locator and row.target == identity,
            happened=to_moment(row.created_at),
            wake=None if row.wake_at is None else to_moment(row.wake_at),
            attempts=row.attempt,
            error=row.error,
            behind=_behind(row, first.get(heads.get(row.id, row.id)), failures, unmade, stopped),
            unmade=unmade.get(row.id),
        )
        for row in found.values()
    )


def _heads(identities: list[UUID]) -> dict[UUID, UUID]:
    """The first delivery of each one's pair."""
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_HEADS, [identities])
        return dict(cursor.fetchall())


def _behind(
    row: Delivery,
    head: Delivery | None,
    failures: Mapping[UUID, Failure],
    unmade: Mapping[UUID, Unmade],
    stopped: Mapping[str, Failure],
) -> str:
    """What holds a delivery back, in words."""
    if row.id in failures:
        return f"its own failure {failures[row.id].id.hex}: {failures[row.id].error}"
    if head is not None and head.id != row.id:
        failed = failures.get(head.id)
        what = f"{head.event} at version {head.version}, which goes first to {head.endpoint}"
        if failed:
            return f"{what}, and failed: {failed.error} (failure {failed.id.hex})"
        return f"{what}, and {unmade[head.id].reason}" if head.id in unmade else what
    failure = stopped.get(f"{row.receiver}:{row.target}") if row.wake_at is None else None
    return "" if failure is None else f"the failure {failure.id.hex} of the process it goes to: {failure.error}"


def _stopped(rows: Iterable[Delivery]) -> dict[str, Failure]:
    """By process, the first failure of those that parked ones among these go to."""
    processes = {f"{row.receiver}:{row.target}" for row in rows if row.wake_at is None and row.target}
    failures = Failure.objects.using(settings.alias()).filter(entity__in=processes, source__in=("deadline", "delivery"))
    return {one.entity: one for one in failures.order_by("-at")[:SHOWN]}


def armed_calls(component: Component, identity: str) -> tuple[tuple[Armed, ...], bool]:
    """The calls that the object armed, and those aimed at it among the next of each endpoint."""
    entity = f"{component.locator}:{identity}"
    rows = Delay.objects.using(settings.alias())
    own = list(rows.filter(entity=entity).order_by("due_at")[:SHOWN])
    endpoints = [operation.endpoint for operation in component.operations.values()]
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_AIMED, [endpoints, AHEAD, identity, SHOWN])
        aimed = [row[0] for row in cursor.fetchall()]
        cursor.execute(_MORE, [AHEAD, endpoints, AHEAD + 1])
        cut = bool(cursor.fetchone()[0])
    known = {row.id for row in own}
    others = rows.filter(id__in=[one for one in aimed if one not in known]).order_by("due_at")
    found = {row.id: row for row in [*own, *others]}
    unmade = _unmade(DELAYS.kind, found)
    return tuple(_stored(row, entity, unmade.get(row.id)) for row in found.values()), cut


def _unmade(kind: Kind, rows: Mapping[UUID, Delay] | Mapping[UUID, Delivery]) -> dict[UUID, Unmade]:
    """Which of these no code here can make; what is parked waits for something else."""
    waiting = {
        identity: (row.endpoint, to_moment(row.wake_at)) for identity, row in rows.items() if row.wake_at is not None
    }
    return {
        identity: Unmade(reason=one.reason, fails=one.fails_at) for identity, one in orphans_of(kind, waiting).items()
    }


def _stored(row: Delay, entity: str, unmade: Unmade | None) -> Armed:
    return Armed(
        id=row.id.hex,
        endpoint=row.endpoint,
        due=to_moment(row.due_at),
        wake=None if row.wake_at is None else to_moment(row.wake_at),
        attempts=row.attempt,
        error=row.error,
        running=row.token is not None,
        own=row.entity == entity,
        unmade=unmade,
    )
