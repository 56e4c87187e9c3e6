"""Storing calls to be made later: delays and sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db import connections

from toa.core.calling import Armed, Call, refuses_chain
from toa.core.clock import GREATEST, to_datetime, to_moment
from toa.core.duration import parse_duration
from toa.core.identity import uuid7
from toa.exceptions import InvalidInput, NotAllowedHere
from toa.models import Outcome
from toa.runtime import bindings, settings, waking
from toa.runtime.journal import Settled, write_history
from toa.runtime.requests import check_storable, split
from toa.runtime.sql import insert_rows
from toa.runtime.table import jsonb

_TAKE_NAMED = (
    "DELETE FROM toa_delay WHERE entity = %s AND name = %s RETURNING id, source, endpoint, due_at, attempt, cause"
)
# A leased row is being made: its cancellation is answered where the lease is known.
_TAKE = (
    "DELETE FROM toa_delay WHERE id = ANY(%s) AND token IS NULL"
    " RETURNING id, source, endpoint, due_at, attempt, cause, entity"
)


def armed(
    call: Call,
    now: int,
    endpoint: str,
    request: Mapping[str, Any] | None,
    *,
    interval: int | str | None = None,
    at: int | None = None,
    overdue: int | None = None,
    key: str | None = None,
    unchained: bool = False,
    source: str = "delay",
) -> Armed:
    """A stored call as it is to be written, checked against its target.

    `interval` is ms or text ("1h"), counted from `now`; `at` is a moment in epoch ms; exactly one of them.
    `overdue` is how many ms after its moment the call may still begin; null: however late.
    """
    operation = bindings.operation(endpoint)
    check_storable(operation, request)
    reason = None if unchained else refuses_chain(call.hops(), endpoint)
    if reason:
        raise NotAllowedHere(reason, hint="arm it with unchained=True if it is meant to go on")
    if overdue is not None and (type(overdue) is not int or overdue < 0):
        raise InvalidInput(f"overdue is null or a whole number of ms from 0, not {overdue!r}")
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= 191):
        raise InvalidInput(f"key is text of 1 to 191 characters, not {key!r}")
    given, query = split(request)
    return Armed(
        id=uuid7(),
        endpoint=endpoint,
        request={"input": given, "query": dict(query) if query is not None else None},
        due=_due(now, interval, at),
        overdue=overdue,
        name=key,
        unchained=unchained,
        source=source,
    )


def _due(now: int, interval: int | str | None, at: int | None) -> int:
    if (interval is None) == (at is None):
        raise InvalidInput("a delay has either an interval or a moment", hint='interval="1h" or at=<epoch ms>')
    if at is not None:
        if type(at) is not int or not 0 <= at <= GREATEST:
            raise InvalidInput(f"at is a moment in epoch ms up to the year 9999, not {at!r}")
        return at
    assert interval is not None
    due = now + parse_duration(interval)
    if due > GREATEST:
        raise InvalidInput(f"a delay of {interval!r} ends after the year 9999")
    return due


def store(delays: Iterable[Armed], call: Call, entity: str, now: int) -> None:
    """Write the armed calls in the open transaction. One armed under a taken key settles the old one as replaced."""
    rows: list[dict[str, Any]] = []
    replaced: list[Settled] = []
    moment = to_datetime(now)
    cause = {"endpoint": call.endpoint, "key": call.key, **({"entity": entity} if entity else {})}
    with connections[settings.alias()].cursor() as cursor:
        for one in delays:
            if one.name is not None:
                cursor.execute(_TAKE_NAMED, [entity, one.name])
                replaced += [_taken(row, entity, Outcome.REPLACED, now) for row in cursor.fetchall()]
            due = to_datetime(one.due)
            chain = [] if one.unchained else list(call.hops())
            rows.append(
                {
                    "id": one.id,
                    "endpoint": one.endpoint,
                    "request": jsonb(one.request),
                    "due_at": due,
                    "wake_at": due,
                    "attempt": 0,
                    "strikes": 0,
                    "chain": chain,
                    "cause": jsonb(cause),
                    "created_at": moment,
                    "source": one.source,
                    "entity": entity,
                    "name": one.name,
                    "overdue_ms": one.overdue,
                }
            )
    insert_rows("toa_delay", rows)
    write_history(replaced)
    if rows:
        waking.after_commit(min(row["due_at"] for row in rows), moment)


def cancel(identities: Iterable[UUID], now: int) -> int:
    """Take back stored calls that have not begun, in the open transaction; returns how many there were."""
    wanted = sorted(set(identities))
    if not wanted:
        return 0
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_TAKE, [wanted])
        taken = [_taken(row[:6], row[6], Outcome.CANCELLED, now) for row in cursor.fetchall()]
    write_history(taken)
    return len(taken)


def _taken(row: Any, entity: str, outcome: Outcome, now: int) -> Settled:
    identity, source, endpoint, due_at, attempt, cause = row
    return Settled(
        call=identity,
        source=source,
        endpoint=endpoint,
        entity=entity,
        outcome=outcome,
        due=to_moment(due_at),
        at=now,
        attempt=attempt,
        cause=cause,
    )
