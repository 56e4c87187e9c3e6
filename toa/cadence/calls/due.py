"""Delays and deliveries as sources of due work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toa.cadence.calls.guarding import fire_all
from toa.cadence.calls.leasing import hint_due, run_next
from toa.cadence.calls.live import Kind
from toa.cadence.calls.pairs import in_turn
from toa.cadence.calls.suspects import docket
from toa.cadence.source import BACKSTOP_MS, Dispatch, Step
from toa.cadence.watermark import Watermark, unseen
from toa.core.clock import to_moment
from toa.core.specs import OperationType
from toa.manifests import registry
from toa.runtime import clock


class StoredCalls:
    """A table of stored calls as a source."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.name = kind.name
        self._committed = Watermark()
        self._leased = Watermark()

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        committed, leased = known_endpoints()
        return self.kind.horizon(committed + leased, since)

    def lower(self, moment: int) -> None:
        self._committed.lower(moment)
        self._leased.lower(moment)

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        committed, leased = known_endpoints()
        return self._fire(committed, limit, dispatch) + self._hint(leased, limit, dispatch)

    def waiting(self, endpoint: str) -> bool:
        return self.kind.waiting(endpoint, BACKSTOP_MS)

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        return run_next(self.kind, endpoint, renew=renew)

    def _fire(self, endpoints: list[str], limit: int, dispatch: Dispatch) -> Step:
        now = clock.clock().now()
        found = self.kind.due(endpoints, limit, self._committed.since(now))
        more = unseen([(live.endpoint, live.wake) for live in found], limit)
        if more:
            dispatch.more()
        if self.kind.parks:
            found = in_turn(found, now, _known())
        fired = fire_all(self.kind, found, docket())
        self._committed.raised(now, [*more, *(live.wake for live in found if live.id not in fired.settled)])
        return Step(
            settled=len(fired.settled),
            full=bool(fired.settled and more) or fired.left > 0,
            locked=len(found) - len(fired.settled) - fired.left,
        )

    def _hint(self, endpoints: list[str], limit: int, dispatch: Dispatch) -> Step:
        now = clock.clock().now()
        if self.kind.parks:
            in_turn(self.kind.due(endpoints, limit, self._leased.since(now)), now, _known())
        hints = hint_due(self.kind, endpoints, limit, self._leased.since(now))
        for hint in hints:
            dispatch.hint(hint)
        full = len(hints) >= limit
        if not full:
            self._leased.raised(now, [])
        return Step(settled=len(hints), full=full)


def _known() -> frozenset[str]:
    committed, leased = known_endpoints()
    return frozenset(committed + leased)


def known_endpoints() -> tuple[list[str], list[str]]:
    """The endpoints that this code knows: those that fire in a pass, and those that run under a lease. A call of a
    workflow is made by starting a run, in a pass."""
    committed, leased = [], []
    for spec in registry.all().values():
        for name, operation in spec.operations.items():
            if operation.type in (OperationType.TRANSITION, OperationType.ASSIGNMENT, OperationType.WORKFLOW):
                committed.append(spec.endpoint(name))
            elif operation.type is OperationType.EFFECT:
                leased.append(spec.endpoint(name))
    return committed, leased


def _delay(extra: Sequence[Any]) -> dict[str, Any]:
    source, entity, overdue = extra
    return {"source": source, "entity": entity, "overdue": overdue}


def _delivery(extra: Sequence[Any]) -> dict[str, Any]:
    receiver, target, source, source_id, event_at, version, position = extra
    entity = f"{receiver}:{target}" if target else f"{source}:{source_id}"
    return {
        "source": "delivery",
        "entity": entity,
        "base": to_moment(event_at),
        "pair": (source, source_id, receiver),
        "turn": (version, position),
    }


DELAYS = StoredCalls(Kind(name="delay", table="toa_delay", extra="source, entity, overdue_ms", describe=_delay))
"""Calls armed by `delay` and `send`."""

DELIVERIES = StoredCalls(
    Kind(
        name="delivery",
        table="toa_delivery",
        extra="receiver, target, source, source_id, created_at, version, position",
        describe=_delivery,
        parks=True,
        behind=(
            "b.source = c.source AND b.source_id = c.source_id AND b.receiver = c.receiver"
            " AND (b.version, b.position) < (c.version, c.position)"
        ),
    )
)
"""Events on their way to receivers, in order within a pair of source entity and receiving component."""
