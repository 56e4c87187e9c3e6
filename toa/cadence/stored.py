"""Delays and deliveries as sources of due work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toa.cadence.firing import fire
from toa.cadence.leasing import hint_due, run_next
from toa.cadence.live import Kind
from toa.cadence.source import Dispatch, Step
from toa.core.clock import to_moment
from toa.core.specs import OperationType
from toa.manifests import registry


class StoredCalls:
    """A table of stored calls as a source."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.name = kind.name

    def horizon(self) -> tuple[str, list[Any]]:
        committed, leased = known_endpoints()
        return self.kind.horizon(committed + leased)

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        committed, leased = known_endpoints()
        found = self.kind.due(committed, limit)
        if len(found) >= limit:
            dispatch.more()
        settled = sum(fire(self.kind, live) for live in found)
        hints = hint_due(self.kind, leased, limit)
        for hint in hints:
            dispatch.hint(hint)
        return Step(
            settled=settled + len(hints),
            full=settled > 0 and len(found) >= limit,
            locked=len(found) - settled,
        )

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        return run_next(self.kind, endpoint, renew=renew)


def known_endpoints() -> tuple[list[str], list[str]]:
    """The endpoints that this code knows: those that fire in a pass, and those that run under a lease."""
    committed, leased = [], []
    for spec in registry.all().values():
        for name, operation in spec.operations.items():
            if operation.type in (OperationType.TRANSITION, OperationType.ASSIGNMENT):
                committed.append(spec.endpoint(name))
            elif operation.type is OperationType.EFFECT:
                leased.append(spec.endpoint(name))
    return committed, leased


def _delay(extra: Sequence[Any]) -> dict[str, Any]:
    source, entity, overdue = extra
    return {"source": source, "entity": entity, "overdue": overdue}


def _delivery(extra: Sequence[Any]) -> dict[str, Any]:
    receiver, target, source, source_id, event_at = extra
    entity = f"{receiver}:{target}" if target else f"{source}:{source_id}"
    return {"source": "delivery", "entity": entity, "base": to_moment(event_at)}


DELAYS = StoredCalls(Kind(name="delay", table="toa_delay", extra="source, entity, overdue_ms", describe=_delay))
"""Calls armed by `delay` and `send`."""

DELIVERIES = StoredCalls(
    Kind(
        name="delivery",
        table="toa_delivery",
        extra="receiver, target, source, source_id, created_at",
        describe=_delivery,
        parks=True,
        heads=(
            "AND NOT EXISTS (SELECT 1 FROM toa_delivery b WHERE b.source = c.source AND b.source_id = c.source_id"
            " AND b.receiver = c.receiver AND (b.version, b.position) < (c.version, c.position))"
        ),
    )
)
"""Events on their way to receivers, in order within a pair of source entity and receiving component."""
