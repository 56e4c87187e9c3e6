"""Events on their way and those that arrived, as an operator asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models import QuerySet

from toa.core.clock import to_moment
from toa.core.cursor import SortKey, decode_cursor, encode_cursor
from toa.core.specs import PropertyType
from toa.exceptions import NotFound
from toa.models import Delivery, Failure, History
from toa.runtime import settings

WAITING, PARKED, FAILED, LEASED = "waiting", "parked", "failed", "leased"
STATES = (WAITING, PARKED, FAILED, LEASED)
ORDER: Sequence[SortKey] = (
    SortKey(name="due", type=PropertyType.MOMENT),
    SortKey(name="id", type=PropertyType.STRING),
)
NEWEST: Sequence[SortKey] = (
    SortKey(name="at", type=PropertyType.MOMENT, descending=True),
    SortKey(name="id", type=PropertyType.STRING, descending=True),
)
MOST = 1_000
"""The longest page."""
_SHOWN = ("call", "source", "endpoint", "entity", "outcome", "code", "due_at", "at", "attempt", "cause")
WINDOW = 10_000
"""How many rows are looked through for a page of settled deliveries; what they leave is for the next page."""

# Each state has an index that gives its rows; those that failed are as many as wait for a person.
_LISTED = """
SELECT c.id, c.due_at, c.event, c.endpoint, c.source, c.source_id, c.version, c.receiver, c.target, c.wake_at,
       c.attempt, CASE WHEN f.id IS NOT NULL THEN 'failed' WHEN c.wake_at IS NULL THEN 'parked'
            WHEN c.token IS NOT NULL THEN 'leased' ELSE 'waiting' END, coalesce(f.error, c.error)
  FROM toa_delivery c LEFT JOIN toa_failure f ON f.call = c.id
 WHERE {where} ORDER BY c.due_at, c.id LIMIT %s
"""
_WHERE = {
    "": "true",
    WAITING: "c.wake_at IS NOT NULL AND c.token IS NULL",
    PARKED: "c.wake_at IS NULL AND f.id IS NULL",
    FAILED: "c.wake_at IS NULL AND f.id IS NOT NULL",
    LEASED: "c.token IS NOT NULL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveDelivery:
    """An event that did not arrive yet. Moments are epoch ms."""

    id: str
    event: str
    endpoint: str
    source: str
    """`component:id` of the object that changed."""
    version: int
    target: str
    """`component:id` of the receiving object; the component alone where it has none."""
    state: str
    due: int
    wake: int | None
    attempts: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledDelivery:
    """What became of an event. Moments are epoch ms."""

    id: str
    event: str
    endpoint: str
    source: str
    target: str
    outcome: str
    code: str
    due: int
    at: int
    attempts: int


def live(
    *, state: str = "", event: str = "", limit: int = 100, after: str | None = None
) -> tuple[list[LiveDelivery], str | None]:
    """Events on their way by the moment they are due, and where the next page begins; null where there is none.

    `state` is one of `STATES`, `event` a locator such as `store.orders.created`. Raises InvalidQuery for an `after`
    of another list.
    """
    limit = min(limit, MOST)
    where = [_WHERE[state]]
    parameters: list[Any] = []
    if event:
        where.append("c.event = %s")
        parameters.append(event)
    if after is not None:
        where.append("(c.due_at, c.id) > (%s, %s)")
        parameters += decode_cursor(after, ORDER).values
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_LISTED.format(where=" AND ".join(where)), [*parameters, limit])
        rows = cursor.fetchall()
    last = {"due": rows[-1][1], "id": rows[-1][0].hex} if len(rows) == limit else None
    return [_live(row) for row in rows], None if last is None else encode_cursor(ORDER, last)


def settled(*, event: str = "", limit: int = 100, after: str | None = None) -> tuple[list[SettledDelivery], str | None]:
    """Events that arrived, or came to another end, the newest first, and where the next page begins.

    At most 10,000 lines of the history are looked through for a page, so a page may be short, or empty, and still
    have one behind it.
    """
    limit = min(limit, MOST)
    lines = History.objects.using(settings.alias()).order_by("-at", "-id")
    if after is not None:
        at, identity = decode_cursor(after, NEWEST).values
        lines = lines.filter(at__lte=at).exclude(at=at, id__gte=UUID(identity))
    found: list[SettledDelivery] = []
    seen: History | None = None
    looked = 0
    for seen in lines.only(*_SHOWN)[:WINDOW].iterator(chunk_size=500):
        looked += 1
        if seen.source == "delivery" and event in ("", (seen.cause or {}).get("event")):
            found.append(_settled(seen))
            if len(found) == limit:
                break
    more = seen is not None and (len(found) == limit or looked == WINDOW)
    return found, encode_cursor(NEWEST, {"at": seen.at, "id": seen.id.hex}) if more and seen is not None else None


def show(identity: UUID) -> dict[str, Any]:
    """Everything about one event's way to one receiver: the live row, or every line of its history, and its failure.

    Raises NotFound for an id that was never issued, or is past the retention of the history.
    """
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_LISTED.format(where="c.id = %s"), [identity, 1])
        found = cursor.fetchone()
    row = None if found is None else _live(found)
    lines = [_settled(line) for line in history_of(identity)]
    if row is None and not lines:
        raise NotFound(f"no event is or was on its way under {identity.hex}")
    failure = Failure.objects.using(settings.alias()).filter(call=identity).first()
    stored = Delivery.objects.using(settings.alias()).filter(id=identity).values_list("request", "cause").first()
    if stored is None:
        stored = history_of(identity).values_list("request", "cause").first()
    request, cause = stored or (None, None)
    return {
        "live": row,
        "settled": lines,
        "request": request,
        "cause": cause,
        "failure": None if failure is None else failure.id.hex,
    }


def history_of(identity: UUID) -> QuerySet[History]:
    """The lines of an event's history, the newest first."""
    lines = History.objects.using(settings.alias()).filter(call=identity, source="delivery")
    return lines.order_by("-at", "-id")


def _live(row: Sequence[Any]) -> LiveDelivery:
    identity, due, event, endpoint, source, source_id, version, receiver, target, wake, attempt, state, error = row
    return LiveDelivery(
        id=identity.hex,
        event=event,
        endpoint=endpoint,
        source=f"{source}:{source_id}",
        version=version,
        target=f"{receiver}:{target}" if target else receiver,
        state=state,
        due=to_moment(due),
        wake=None if wake is None else to_moment(wake),
        attempts=attempt,
        error=error,
    )


def _settled(line: History) -> SettledDelivery:
    cause = line.cause or {}
    return SettledDelivery(
        id=line.call.hex,
        event=cause.get("event") or "",
        endpoint=line.endpoint,
        source=cause.get("entity") or "",
        target=line.entity,
        outcome=line.outcome,
        code=line.code,
        due=to_moment(line.due_at),
        at=to_moment(line.at),
        attempts=line.attempt,
    )
