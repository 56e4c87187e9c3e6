"""A sweep made by hand, now: of what a pulse or schedule declares, or the effect that it calls.

That of a pulse runs under the pulse's own lease, and an effect on a schedule as a leased call of that schedule: so the
two never run side by side, and what was done by hand stands in the history. What a schedule declares needs no lease:
the criteria are looked at again at each call, so two sweeps at once share the objects between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar
from uuid import uuid4

from django.db import transaction

from toa.cadence.calls.leasing import run
from toa.cadence.declared import Declared, in_force
from toa.cadence.pulses.boundaries import begin, lapse
from toa.cadence.pulses.due import make
from toa.cadence.pulses.sweeping import sweep
from toa.cadence.schedules.calls import leased_now, running
from toa.cadence.schedules.due import SCHEDULES
from toa.core.calling import Call
from toa.core.clock import to_datetime, to_moment
from toa.core.error import Error
from toa.core.grid import Grid
from toa.core.identity import uuid7
from toa.core.nearest import did_you_mean
from toa.core.query import parse_query
from toa.core.record import Record
from toa.core.specs import OperationType, PulseScope, PulseSpec, ScheduleSpec
from toa.exceptions import Conflict, InvalidQuery, NotFound, Refused
from toa.models import Pulse, Schedule
from toa.runtime import bindings, clock, settings
from toa.runtime.calls import perform
from toa.runtime.requests import prepare
from toa.runtime.selecting import select_ids
from toa.runtime.swept import IDLE

Row = TypeVar("Row", Pulse, Schedule)


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
    an effect, which has a bound of its own; Refused for an Error that the effect replies with; Conflict where a call
    of the pulse runs already, or one of the schedule that does not allow overlap.
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
    if isinstance(one.spec, PulseSpec) and one.spec.scope is PulseScope.GROUP:
        return _under_lease(one, by, limit)
    operation = bindings.operation(one.endpoint)
    if isinstance(one.spec, ScheduleSpec) and operation.spec.type is OperationType.EFFECT:
        return _as_call(one, by, operation.spec.lease_ms)
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
    return _answered(perform(operation, prepare(operation, _input(one, now)), call))


def _under_lease(one: Declared[Any], by: str, limit: int | None) -> Any:
    """A call of the pulse beside its grid, which runs here: the pulse itself does not, meanwhile."""
    operation = bindings.operation(one.endpoint)
    pulse = _leased(one, by, operation.spec.lease_ms)
    if pulse.query is not None:
        pulse.query = _limited(pulse.query, limit)
    made = make(operation, pulse, renew=True)
    if made.error is not None:
        raise made.error
    return _answered(made.reply)


def _leased(one: Declared[Any], by: str, lease_ms: int) -> Pulse:
    now = clock.database_now()
    with transaction.atomic(using=settings.alias()):
        pulse = _locked(Pulse, one)
        if pulse.token is not None and pulse.wake_at is not None and to_moment(pulse.wake_at) <= now:
            lapse(pulse, now)
        if pulse.token is not None or pulse.fire_at is not None:
            raise Conflict(f"a call of {_name(one)} runs, or was asked for already: two never run side by side")
        pulse.fire_at, pulse.fire_by = to_datetime(now), by
        begin(pulse, now, lease_ms)
        pulse.save()
    return pulse


def _as_call(one: Declared[Any], by: str, lease_ms: int) -> Any:
    """A call of the schedule beside its calendar, which runs here; settled, tried again or failed as any other."""
    now = clock.database_now()
    token = uuid4()
    with transaction.atomic(using=settings.alias()):
        schedule = _locked(Schedule, one)
        if schedule.overlap != "allow" and schedule.id in running([schedule.id]):
            raise Conflict(f"a call of {_name(one)} runs, or waits to: two never run side by side")
        call = leased_now(schedule, now, token, lease_ms, by)
    reply, failed = run(SCHEDULES.kind, call, renew=True)
    if failed is not None:
        raise failed
    return _answered(reply)


def _locked(kind: type[Row], one: Declared[Any]) -> Row:
    rows = kind._default_manager.using(settings.alias()).select_for_update(no_key=True)
    row = rows.filter(endpoint=one.endpoint, name=one.spec.name, retired_at=None).first()
    if row is None:
        what = kind.__name__.lower()
        raise NotFound(f"the {what} {_name(one)} has no row yet", hint="run manage.py migrate, or toa sync")
    return row


def _answered(reply: Any) -> Any:
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
