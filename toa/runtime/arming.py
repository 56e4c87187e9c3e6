"""Storing calls to be made later: what a delay or a send is, checked and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from toa.core.calling import Armed, Call, refuses_chain
from toa.core.clock import GREATEST, to_datetime
from toa.core.duration import parse_duration
from toa.core.identity import check_key, uuid7
from toa.exceptions import InvalidInput, NotAllowedHere
from toa.models import Outcome
from toa.runtime import bindings, waking
from toa.runtime.journal import write_history
from toa.runtime.requests import check_storable
from toa.runtime.sending import run
from toa.runtime.sql import Rows, insert_rows, moment_text
from toa.runtime.table import Lock
from toa.runtime.withdrawing import Row, taken, withdraw


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
    given, query = check_storable(operation, request)
    reason = None if unchained else refuses_chain(call.hops(), endpoint)
    if reason:
        raise NotAllowedHere(reason, hint="arm it with unchained=True if it is meant to go on")
    if overdue is not None and (type(overdue) is not int or overdue < 0):
        raise InvalidInput(f"overdue is null or a whole number of ms from 0, not {overdue!r}")
    if key is not None:
        check_key(key)
    return Armed(
        id=uuid7(),
        endpoint=endpoint,
        request={"input": given, "query": dict(query) if query is not None else None},
        due=due_moment(now, interval, at),
        overdue=overdue,
        name=key,
        unchained=unchained,
        source=source,
        mark=call.mark if source == "send" and call.timeout else None,
    )


def due_moment(now: int, interval: int | str | None, at: int | None) -> int:
    """When a call is due, epoch ms; raises InvalidInput unless exactly one of interval and moment is given."""
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


def take_named(delays: Sequence[Armed], entity: str) -> list[Row]:
    """Take away the calls whose names are armed again, in the open transaction, before anything is written.

    For whoever must not wait: raises Busy where one of them is held.
    """
    names = sorted({one.name for one in delays if one.name is not None})
    return withdraw("c.entity = %s AND c.name = ANY(%s)", [entity, names], Lock.SKIP) if names else []


def store(delays: Sequence[Armed], call: Call, entity: str, now: int) -> None:
    """Write the calls that one call arms, on behalf of an entity, in the open transaction.

    Those that stand under a name which is armed again are replaced: whoever holds one is waited for. Most names stand
    for nothing yet, and nobody looks for what they stood for unless the database keeps the new one out.
    """
    named = any(one.name is not None for one in delays)
    store_all([(delays, call, entity)], now, partial(_replace, entity, now) if named else None)


def _replace(entity: str, now: int, rows: Rows) -> None:
    """Write calls whose names are taken in place of those that have them."""
    replaced = withdraw("c.entity = %s AND c.name = ANY(%s)", [entity, [row["name"] for row in rows]], Lock.WAIT)
    write_history([taken(row, Outcome.REPLACED, now) for row in replaced])
    insert_rows("toa_delay", rows)


def store_all(
    groups: Sequence[tuple[Sequence[Armed], Call, str]], now: int, otherwise: Callable[[Rows], None] | None = None
) -> None:
    """Write the calls that several calls arm, each for its entity, in the open transaction, by one statement.

    `otherwise` is given those whose names are taken; see `insert_rows`.
    """
    rows = []
    wakes = []
    for delays, call, entity in groups:
        cause = {"endpoint": call.endpoint, "key": call.key, **({"entity": entity} if entity else {})}
        chain = list(call.hops())
        last = _last_of_each_name(delays, entity, now)
        rows += [_row(one, entity, chain, cause, now) for one in last]
        wakes += [max(one.due, now) for one in last]
    insert_rows("toa_delay", rows, otherwise)
    if wakes:
        waking.after_commit(to_datetime(min(wakes)), to_datetime(now))


def _last_of_each_name(delays: Sequence[Armed], entity: str, now: int) -> list[Armed]:
    """A name armed twice by one call: the later arming counts, the earlier one is replaced on the spot."""
    last = {one.name: one for one in delays if one.name is not None}
    replaced = [one for one in delays if one.name is not None and last[one.name] is not one]
    write_history(
        [
            taken(Row(one.id, one.source, one.endpoint, one.due, 0, None, entity), Outcome.REPLACED, now)
            for one in replaced
        ]
    )
    return [one for one in delays if one.name is None or last[one.name] is one]


def _row(one: Armed, entity: str, chain: list[str], cause: Any, now: int) -> dict[str, Any]:
    return {
        "id": one.id.hex,
        "endpoint": one.endpoint,
        "request": one.request,
        "due_at": moment_text(one.due),
        # Never in the past: a look that starts where everything older is settled must find it.
        "wake_at": moment_text(max(one.due, now)),
        "attempt": 0,
        "strikes": 0,
        "chain": [] if one.unchained else chain,
        "cause": cause,
        "created_at": moment_text(now),
        "source": one.source,
        "entity": entity,
        "name": one.name,
        "overdue_ms": one.overdue,
        "mark": one.mark,
    }


def exclusive(name: str) -> None:
    """Keep two armings of one name apart where no entity's lock does, until the open transaction ends."""
    run("SELECT pg_advisory_xact_lock(hashtextextended(%s, 7))", [name])
