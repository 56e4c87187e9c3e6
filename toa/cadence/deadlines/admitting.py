"""Whether an event may reach an instance of a component with deadlines at this moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import settle
from toa.core.deadlines import CLOSED, DISCARDED, DRAINING, FAILED, earliest
from toa.models import Outcome
from toa.runtime import bindings, clock
from toa.runtime.deciding import Verdict
from toa.runtime.table import State
from toa.runtime.writing import Entry

PARK = Verdict("park")
"""The instance failed, or is being brought up to date: the event waits for its turn in that."""
AFTER_DEADLINE = Verdict("after deadline")
"""A deadline was pending when the event happened: it goes first."""


@dataclass(frozen=True, slots=True)
class Held(Verdict):
    """A deadline that goes first is held itself, for another try or for an earlier event: this one waits with it."""

    until: int
    """Epoch ms."""


REFUSE_CLOSED = Verdict(CLOSED)
REFUSE_DISCARDED = Verdict(DISCARDED)


def admitted(live: Live, entries: Sequence[Entry]) -> Verdict | None:
    """The verdict about a delivery whose target is locked; null lets it through. Other calls always pass."""
    state = _gives_way(live, entries[0].origin) if len(entries) == 1 else None
    if state is None:
        return None
    match state["STATE"]:
        case None:
            if _comes_after(live, state):
                held: int | None = state["HELD"]
                return AFTER_DEADLINE if held is None or held <= clock.clock().now() else Held("held", held)
            if _is_awaited(state):
                # A deadline waits for this event: look at it again as soon as this commits.
                table = bindings.component(component_of(live)).table
                table.update(state["id"], {"HELD": clock.clock().now()})
            return None
        case state_name if state_name in (FAILED, DRAINING):
            return PARK
        case state_name if state_name == CLOSED:
            return None if _last_word(live, component_of(live), state) else REFUSE_CLOSED
        case _:
            return REFUSE_DISCARDED


def unhindered(live: Live, state: State | None) -> bool:
    """Whether a call finds its object, locked and in this state, running, with no deadline that goes first and none
    that waits for it: then `admitted` lets it through, and has nothing to note."""
    found = _gives_way(live, state)
    return found is None or (found["STATE"] is None and not _comes_after(live, found) and not _is_awaited(found))


def _gives_way(live: Live, state: State | None) -> State | None:
    """The state, where the call may have to give way to deadlines: an event, and its object is there and has any."""
    return state if live.source == "delivery" and state is not None and "STATE" in state else None


def _comes_after(live: Live, state: State) -> bool:
    pending = earliest(state, bindings.component(component_of(live)).spec.deadlines)
    happened = live.due if live.base is None else live.base
    return pending is not None and pending.moment <= happened


def _is_awaited(state: State) -> bool:
    return state["HELD"] is not None and "waited" in (state["CLOCK"] or {})


def mark_of(component: str, identity: Any) -> dict[str, Any]:
    """The mark that what a time-out's transition sends carries."""
    return {"component": component, "id": str(identity)}


def component_of(live: Live) -> str:
    """The receiving component of a delivery that has a target."""
    return live.entity.partition(":")[0]


def turn_away(kind: Kind, live: Live, verdict: Verdict, started: int) -> None:
    """Do with a claimed delivery what the verdict says, in the open transaction."""
    if verdict == PARK:
        kind.postpone(live, None, live.attempt)
    elif isinstance(verdict, Held):
        kind.postpone(live, verdict.until, live.attempt)
    elif verdict in (REFUSE_CLOSED, REFUSE_DISCARDED):
        settle(kind, live, Outcome.REFUSED, verdict.name.upper(), started, clock.clock().now())


def _last_word(live: Live, component: str, state: dict[str, Any]) -> bool:
    """Whether the event follows from the closed process's own time-out, and this receiver has not had one yet.

    What it lets through is noted in the locked row: each receiver takes one.
    """
    if live.mark is None or live.mark != mark_of(component, state["id"]):
        return False
    kept = state["CLOCK"] or {}
    had: list[str] = kept.get("last_words", [])
    if live.endpoint in had:
        return False
    bindings.component(component).table.update(state["id"], {"CLOCK": {**kept, "last_words": [*had, live.endpoint]}})
    return True
