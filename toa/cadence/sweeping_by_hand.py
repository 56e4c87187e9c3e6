"""A sweep made by hand, now: of what a pulse or schedule declares, or the effect that it calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toa.cadence.declared import Declared, in_force
from toa.cadence.sweeping import sweep
from toa.core.calling import Call
from toa.core.error import Error
from toa.core.grid import Grid
from toa.core.identity import uuid7
from toa.core.nearest import did_you_mean
from toa.core.query import parse_query
from toa.core.record import Record
from toa.core.specs import PulseSpec, ScheduleSpec
from toa.exceptions import InvalidQuery, NotFound, Refused
from toa.runtime import bindings, clock
from toa.runtime.calls import perform
from toa.runtime.requests import prepare
from toa.runtime.selecting import select_ids

IDLE = frozenset({"refused", "failed", "passed"})
"""Counts of what a sweep could not do: more rounds would meet the same objects again."""


def find_sweep(name: str) -> Declared[PulseSpec] | Declared[ScheduleSpec]:
    """The pulse or schedule in force called `endpoint` or `endpoint#name`. Raises NotFound with the nearest name."""
    endpoint, _, own = name.partition("#")
    every: list[Declared[Any]] = [*in_force().pulses, *in_force().schedules]
    found = [one for one in every if one.endpoint == endpoint and own in ("", one.spec.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"{endpoint} has several: {', '.join(_name(one) for one in found)}")
    raise NotFound(f"nothing on the clock is called {name!r}", hint=did_you_mean(name, [_name(one) for one in every]))


def would_call(one: Declared[Any], limit: int | None = None) -> list[Any]:
    """The ids of the objects that a declared sweep would call now, in its order. Calls nothing."""
    operation = bindings.operation(one.endpoint)
    entity = operation.component.spec.entity
    if one.spec.query is None or entity is None:
        raise InvalidQuery(f"{one.endpoint} selects in its own code: whom it would call is not known without a call")
    asked = _limited(one.spec.query, limit)
    return select_ids(operation.component, parse_query(asked, entity, allow_now=True, limit_required=True))


def rounds(one: Declared[Any], by: str, *, limit: int | None = None, until_dry: bool = False) -> Iterator[Any]:
    """Sweep now, once or until a round does nothing more; yields what each round replied.

    `limit` bounds each round of a declared sweep. Raises InvalidQuery where there is a limit and the sweep is made by
    an effect, which has a bound of its own; Refused for an Error that the effect replies with.
    """
    if limit is not None and one.spec.query is None:
        raise InvalidQuery(f"{one.endpoint} selects in its own code, and bounds itself")
    while True:
        reply = _once(one, by, limit)
        yield reply
        counts = reply if isinstance(reply, Mapping) else {}
        did = [count for name, count in counts.items() if name not in IDLE and type(count) is int]
        if not until_dry or not any(did):
            return


def _once(one: Declared[Any], by: str, limit: int | None) -> Any:
    operation = bindings.operation(one.endpoint)
    now = clock.clock().now()
    call = Call(
        endpoint=one.endpoint,
        key=uuid7().hex,
        due=now,
        caller=f"command:{by}",
        cause={"source": "command", "asked_by": by},
    )
    if one.spec.query is not None:
        return sweep(operation, _limited(one.spec.query, limit), one.spec.input, call)
    reply = perform(operation, prepare(operation, _input(one, now)), call)
    if isinstance(reply, Error):
        raise Refused(reply.code, reply.details)
    return dict(reply) if isinstance(reply, Record) else reply


def _input(one: Declared[Any], now: int) -> dict[str, int]:
    if isinstance(one.spec, ScheduleSpec):
        return {"at": now}
    grid = Grid(cycle_ms=one.spec.cycle_ms, intervals=one.spec.intervals)
    return grid.input_of(grid.ordinal(now))


def _limited(query: Mapping[str, Any], limit: int | None) -> dict[str, Any]:
    return dict(query) if limit is None or "id" in query else {**query, "limit": limit}


def _name(one: Declared[Any]) -> str:
    return f"{one.endpoint}#{one.spec.name}" if one.spec.name else one.endpoint
