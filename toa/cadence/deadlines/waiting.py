"""Whether a deadline that is due waits for events: for those that happened before it and are still on their way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connections

from toa.cadence.calls.live import LOCK_TIMEOUT
from toa.core.clock import to_datetime
from toa.core.deadlines import Reached
from toa.runtime import settings
from toa.runtime.bindings import Component
from toa.runtime.table import State

EVENT_WAIT_MS = 2_000
"""How long a due deadline waits for events that happened before it."""

# What follows in the transaction waits for no lock longer than this, however many rows it holds by now.
_EARLIER = f"""
SELECT set_config('lock_timeout', '{LOCK_TIMEOUT}', true), ARRAY(
    SELECT n.target FROM unnest(%s::text[], %s::timestamptz[]) AS n(target, moment)
     WHERE EXISTS (SELECT 1 FROM toa_delivery d
                    WHERE d.receiver = %s AND d.target = n.target AND d.created_at < n.moment AND d.wake_at <= %s))
"""


def waiting(component: Component, due: Sequence[tuple[State, Reached]], now: int) -> dict[Any, State]:
    """Of locked instances and their earliest deadlines, all due, those that wait: by id, with what to write of them.

    Each waits two seconds at the most, or until the event has committed.
    """
    asked = {str(state["id"]): (state, reached) for state, reached in due if not _has_waited(state, reached, now)}
    if not asked:
        return {}
    moments = [to_datetime(reached.moment) for _, reached in asked.values()]
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(_EARLIER, [list(asked), moments, component.locator, to_datetime(now)])
        _, targets = cursor.fetchone()
    return {state["id"]: _held(state, reached, now) for state, reached in (asked[target] for target in targets)}


def _has_waited(state: State, reached: Reached, now: int) -> bool:
    since = _since(state, reached)
    return since is not None and now >= since + EVENT_WAIT_MS


def _held(state: State, reached: Reached, now: int) -> State:
    since = _since(state, reached)
    began = now if since is None else since
    kept = state["CLOCK"] or {}
    return {"HELD": began + EVENT_WAIT_MS, "CLOCK": {**kept, "waited": began, "awaits": reached.moment}}


def _since(state: State, reached: Reached) -> int | None:
    """When the wait for this deadline began, epoch ms; null where it has not."""
    kept = state["CLOCK"] or {}
    began: int | None = kept.get("waited") if kept.get("awaits") == reached.moment else None
    return began
