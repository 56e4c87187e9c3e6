"""Delays and deliveries as sources of due work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from toa.cadence.calls.finding import full
from toa.cadence.calls.guarding import Fired, fire_all
from toa.cadence.calls.leasing import hint_due, run_next
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.pairs import in_turn
from toa.cadence.calls.suspects import Docket, docket
from toa.cadence.source import BACKSTOP_MS, Dispatch, Step
from toa.cadence.watermark import Watermark
from toa.core.clock import to_moment
from toa.core.specs import OperationType
from toa.manifests import registry
from toa.runtime import clock

LOOKS = 8
"""How often a step looks further on where what it found is in the hands of others."""


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

    def _fire(self, endpoints: Sequence[str], limit: int, dispatch: Dispatch) -> Step:
        """Fire what is due. What stands in the docket of a process that lives is passed over; and where the oldest
        calls of an endpoint turn out to be held, those behind them have their turn."""
        now = clock.clock().now()
        since = self._committed.since(now)
        own = docket()
        named = own.named() if own is not None else None
        abandoned = self.kind.abandoned(endpoints, named, limit) if named else []
        oldest = self.kind.oldest(named) if named else None
        waiting = [] if oldest is None else [oldest]
        """Wake moments of what may be still to settle."""
        step = Step()
        after: dict[str, Live] = {}
        for _ in range(LOOKS):
            found = self.kind.due(endpoints, limit, since, after=after, without=named)
            last = full(found, limit)
            if not after:
                found = sorted([*abandoned, *found], key=lambda live: (live.wake, live.id))
                if last:
                    dispatch.more()
            mine = in_turn(found, now, _known()) if self.kind.parks else found
            fired = self._fire_all(mine, own, [live.id for live in abandoned])
            step += Step(
                settled=len(fired.settled),
                full=bool(fired.settled and last) or fired.left > 0,
                locked=len(mine) - len(fired.settled) - fired.left,
            )
            waiting += [live.wake for live in found if live.id not in fired.settled]
            waiting += [live.wake for live in last.values()]
            made = Counter(live.endpoint for live in found if live.id in fired.settled)
            held = {endpoint: live for endpoint, live in last.items() if made[endpoint] < limit // 2}
            if not held or fired.left:
                break
            endpoints, after = list(held), held
        self._committed.raised(now, waiting)
        if fired.left and not last:
            dispatch.more()
        return step

    def _fire_all(self, found: Sequence[Live], docket: Docket | None, abandoned: Sequence[UUID]) -> Fired:
        return fire_all(self.kind, found, docket, abandoned)

    def _hint(self, endpoints: list[str], limit: int, dispatch: Dispatch) -> Step:
        now = clock.clock().now()
        if self.kind.parks:
            in_turn(self.kind.due(endpoints, limit, self._leased.since(now)), now, _known())
        told = hint_due(self.kind, endpoints, limit, self._leased.since(now))
        for hint in told.hints:
            dispatch.hint(hint)
        full = len(told.hints) >= limit
        if not (full or told.left):
            self._leased.raised(now, [])
        return Step(settled=len(told.hints), full=full)


def _known() -> frozenset[str]:
    committed, leased = known_endpoints()
    return frozenset(committed + leased)


def known_endpoints() -> tuple[list[str], list[str]]:
    """The endpoints that this code knows: those that fire in a pass, and those that run under a lease. A call of a
    workflow is made by starting a run, in a pass."""
    committed = endpoints_of(OperationType.TRANSITION, OperationType.ASSIGNMENT, OperationType.WORKFLOW)
    return committed, endpoints_of(OperationType.EFFECT)


def endpoints_of(*types: OperationType) -> list[str]:
    """The endpoints of operations of these types that this code knows."""
    return [
        spec.endpoint(name)
        for spec in registry.all().values()
        for name, operation in spec.operations.items()
        if operation.type in types
    ]


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
