"""What a person does about a failure: have the same call tried again, or let it go."""

from __future__ import annotations

import logging
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from toa.cadence.calls.due import DELIVERIES
from toa.cadence.calls.pairs import release_pair
from toa.cadence.calls.rows import fresh
from toa.cadence.schedules.calls import occurrence_of, store
from toa.cadence.schedules.occurring import SOURCE as SCHEDULE
from toa.core.clock import to_datetime, to_moment
from toa.core.deadlines import DISCARDED, DRAINING, FAILED
from toa.exceptions import Conflict, NotFound, UnknownEndpoint
from toa.manifests import registry
from toa.models import Delivery, Failure, Outcome
from toa.runtime import bindings, clock, settings, waking
from toa.runtime.bindings import Component
from toa.runtime.events import Change, evaluate_again
from toa.runtime.journal import Settled, write_history
from toa.runtime.sql import insert_rows
from toa.runtime.table import Lock, jsonb

logger = logging.getLogger("toa.cadence")

RETRY = "toa.retry_failure"
"""The permission to retry."""
DISCARD = "toa.discard_failure"
"""The permission to discard."""

AGAIN = "tried again"
LET_GO = "discarded"
REMOVED = "the operation was removed"


class Decided(Protocol):
    """What a decision means for a source whose failed work rests in a table of its own, in the open transaction."""

    def requeue(self, failure: Failure, by: str, now: int) -> str:
        """Have it go on; returns the answer."""
        ...

    def let_go(self, failure: Failure, by: str, code: str, now: int) -> None:
        """Take it away. Its line of history is written."""
        ...


_OTHERS: dict[str, Decided] = {}


def decide_for(source: str, decided: Decided) -> None:
    """Have the failures of a source decided in its own way."""
    _OTHERS[source] = decided


def retry(identity: UUID, by: str) -> str:
    """Have a failed call made again, as the same call under the same key, with its attempts counted afresh.

    A delivery goes back to the head of its pair. One whose operation the code no longer has is let go, so that what
    waits behind it can pass; the answer says so. Raises NotFound where somebody else was quicker.
    """
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        failure = _taken(identity)
        try:
            bindings.operation(failure.endpoint)
        except UnknownEndpoint:
            _let_go(failure, by, REMOVED, now)
            instance = _stopped(failure.entity) if _timed(failure) else None
            if instance is not None:
                _drain(*instance, {}, now)
            answer = f"let go: {REMOVED}"
        else:
            other = _OTHERS.get(failure.source)
            ours = {"delivery": _requeue_delivery, "deadline": _resume}.get(failure.source, _requeue_call)
            answer = (ours if other is None else other.requeue)(failure, by, now)
        moment = to_datetime(now)
        waking.after_commit(moment, moment)
    _log("retry", failure, by, answer)
    return answer


def discard(identity: UUID, by: str) -> str:
    """Let a failed call go for good; what was parked behind it goes on. Raises NotFound where somebody was quicker."""
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        failure = _taken(identity)
        _let_go(failure, by, LET_GO, now)
        if _timed(failure):
            _abandon(failure, now)
        moment = to_datetime(now)
        waking.after_commit(moment, moment)
    _log("discard", failure, by, LET_GO)
    return LET_GO


def parked_behind(failure: Failure) -> int:
    """How many deliveries wait behind a failed one, and how many for the instance that a failure stopped."""
    rows = Delivery.objects.using(settings.alias())
    behind = Q(pk__in=[])
    row = rows.filter(id=failure.call).first()
    if row is not None:
        behind |= Q(source=row.source, source_id=row.source_id, receiver=row.receiver)
    if _timed(failure):
        locator, _, identity = failure.entity.partition(":")
        behind |= Q(receiver=locator, target=identity, wake_at=None)
    return rows.filter(behind).exclude(id=failure.call).count()


def _taken(identity: UUID) -> Failure:
    """The failure, deleted: of two operators at once the second finds nothing."""
    failure = Failure.objects.using(settings.alias()).select_for_update().filter(id=identity).first()
    if failure is None:
        raise NotFound(f"no failure {identity.hex}: it never was, or somebody decided it already")
    found = Failure.objects.using(settings.alias()).filter(id=identity)
    found.delete()
    return failure


def _requeue_delivery(failure: Failure, by: str, now: int) -> str:
    row = Delivery.objects.using(settings.alias()).select_for_update().filter(id=failure.call).first()
    if row is None:
        raise Conflict(f"the delivery of failure {failure.id.hex} is gone; discard the failure")
    if "state" in failure.row:
        request = evaluate_again(row.event, row.receiver, row.position, _change(row, failure.row))
        if request is None:
            _let_go(failure, by, "did not happen", now)
            return "let go: by the present code there is nothing to deliver"
        row.request, row.target = request
    timed = row.target and bindings.operation(row.endpoint).component.spec.deadlines
    instance = _stopped(f"{row.receiver}:{row.target}") if timed else None
    # Where its instance stopped over it, the drain of that instance makes it, and what parked after it.
    wake = to_datetime(now) if instance is None else None
    row.wake_at, row.attempt, row.strikes, row.token = wake, 0, 0, None
    row.save()
    release_pair(row.source, row.source_id, row.receiver, now)
    if instance is not None:
        _drain(*instance, {"delivery": row.id.hex}, now)
    return AGAIN


def _stopped(entity: str) -> tuple[Component, Any] | None:
    """The instance (`component:id`) with its component, locked; null where it is not stopped over a failure."""
    locator, _, text = entity.partition(":")
    component = bindings.component(locator)
    identity = component.table.identity(text)
    state = component.table.fetch([identity], Lock.WAIT).get(identity)
    return (component, identity) if state is not None and state["STATE"] == FAILED else None


def _resume(failure: Failure, by: str, now: int) -> str:
    instance = _stopped(failure.entity)
    if instance is None:
        return "let go: the instance is not stopped any more"
    _drain(*instance, {"property": failure.row["property"]}, now)
    return AGAIN


def _drain(component: Component, identity: Any, first: dict[str, str], now: int) -> None:
    component.table.update(identity, {"STATE": DRAINING, "HELD": now, "CLOCK": {"first": first}})


def _abandon(failure: Failure, now: int) -> None:
    """Nothing runs by itself any more for the instance that the failure stopped; what parked for it is refused."""
    instance = _stopped(failure.entity)
    if instance is not None:
        component, identity = instance
        component.table.update(identity, {"STATE": DISCARDED, "HELD": None})
        DELIVERIES.kind.release(component.locator, str(identity), now)


def _change(row: Delivery, kept: dict[str, Any]) -> Change:
    component = bindings.component(row.source)
    state = component.table.revived(kept["state"])
    assert state is not None
    return Change(component=component, origin=component.table.revived(kept["origin"]), state=state)


def _requeue_call(failure: Failure, by: str, now: int) -> str:
    kept = failure.row
    cause = {**(kept.get("cause") or {}), "retried_by": by}
    due = to_moment(failure.due_at)
    row = fresh(
        failure.call, failure.endpoint, failure.request, due=due, now=now, cause=cause, chain=kept.get("chain", [])
    )
    # It may be late by now, through no fault of its own: whoever retries wants it made.
    row |= {"entity": failure.entity, "overdue_ms": None}
    if failure.source == SCHEDULE:
        store([row | occurrence_of(cause)])
    else:
        mark = None if kept.get("mark") is None else jsonb(kept["mark"])
        insert_rows("toa_delay", [row | {"source": failure.source, "mark": mark}])
    return AGAIN


def _let_go(failure: Failure, by: str, code: str, now: int) -> None:
    row = Delivery.objects.using(settings.alias()).select_for_update().filter(id=failure.call).first()
    if row is not None:
        release_pair(row.source, row.source_id, row.receiver, now)
        row.delete()
    write_history(
        [
            Settled(
                call=failure.call,
                source=failure.source,
                endpoint=failure.endpoint,
                entity=failure.entity,
                outcome=Outcome.CANCELLED,
                code=f"{code}, by {by}",
                due=to_moment(failure.due_at),
                at=now,
                attempt=failure.attempts,
                cause=failure.row.get("cause"),
                request=failure.request if failure.source == "delivery" else None,
            )
        ]
    )
    if failure.source in _OTHERS:
        _OTHERS[failure.source].let_go(failure, by, code, now)


def _timed(failure: Failure) -> bool:
    """Whether the failure stopped an instance of a component with deadlines: one of its deadlines, or an event that
    its transition could not take. An event that could not even be raised stopped nobody."""
    locator = failure.entity.partition(":")[0]
    if failure.source not in ("deadline", "delivery") or "state" in failure.row:
        return False
    return locator in registry.all() and bool(registry.all()[locator].deadlines)


def _log(action: str, failure: Failure, by: str, answer: str) -> None:
    logger.info(
        "%s: failure of %s, by %s: %s",
        action,
        failure.endpoint,
        by,
        answer,
        extra={"action": action, "call": failure.call.hex, "entity": failure.entity, "by": by},
    )
