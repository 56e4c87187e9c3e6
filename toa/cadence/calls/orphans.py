"""Stored calls of endpoints that this code does not know.

Two kinds of code leave them. A deploy that retires an operation leaves its calls without anybody to make them: ten
minutes later, when the last old process is gone, they become failures. A newer release stores calls that older code,
still running beside it, has never heard of: they are left for it, and become failures only after fourteen days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction

from toa.cadence.calls import endpoints
from toa.cadence.calls.due import known_endpoints
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import fail, settle
from toa.cadence.deadlines.holding import stop
from toa.cadence.deadlines.instances import locked_state
from toa.cadence.source import BACKSTOP_MS, Dispatch, Step
from toa.core import deadlines
from toa.core.clock import to_datetime, to_moment
from toa.core.duration import DAY_MS, MINUTE_MS, SECOND_MS, format_duration
from toa.exceptions import Busy
from toa.manifests import registry
from toa.models import Component, Outcome
from toa.runtime import bindings, clock, settings
from toa.runtime.clock import SystemClock

RETIRED_MS = 10 * MINUTE_MS
"""How long the due calls of a retired operation wait, for processes that still have it."""
UNKNOWN_MS = 14 * DAY_MS
"""How long the due calls of an endpoint that was never seen wait, for code that has it."""
BATCH = 100
"""Calls that one step turns into failures at most: whoever wants to cancel one of them waits for no longer."""
EVERY_MS = 10 * SECOND_MS
"""How often a process looks for orphans while it finds none that is past its time."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """An endpoint with stored calls that this code cannot make. Moments are epoch ms."""

    kind: Kind
    endpoint: str
    oldest: int
    """When its oldest call woke, or will wake."""
    retired: int | None
    """Since when a sync has the operation as retired; null: no sync says so."""

    @property
    def patience_ms(self) -> int:
        """How long its calls wait."""
        return UNKNOWN_MS if self.retired is None else RETIRED_MS

    @property
    def fails_at(self) -> int:
        """When its oldest call becomes a failure."""
        return max(self.oldest, self.retired or 0) + self.patience_ms

    @property
    def reason(self) -> str:
        """Why nobody makes its calls."""
        if self.retired is not None:
            return f"the operation was retired at {to_datetime(self.retired):%Y-%m-%d %H:%M:%S} UTC"
        return "no code that runs here knows the operation"


class Orphans:
    """The calls nobody makes, as a source of due work: what is due is that they become failures."""

    name = "orphan"

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds = tuple(kinds)
        self._looks = _Rhythm()
        self._steps = _Rhythm()

    def found(self) -> list[Orphan]:
        """Every endpoint that has calls stored which this code cannot make. One look for each table, whatever it
        holds."""
        committed, leased = known_endpoints()
        found = [
            (kind, endpoint, to_moment(oldest))
            for kind in self.kinds
            for endpoint, oldest in endpoints.unknown(kind, committed + leased)
        ]
        retired = _retired({endpoint for _, endpoint, _ in found})
        return [
            Orphan(kind=kind, endpoint=endpoint, oldest=oldest, retired=retired.get(endpoint))
            for kind, endpoint, oldest in found
        ]

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        moments: list[Any] = [None, None, None]
        if self._looks.open() and (found := self.found()):
            now = clock.database_now()
            first = min(orphan.fails_at for orphan in found)
            # What is past its time is due now: its own moment may lie far behind, where nobody looks any more.
            moments = [now, now, None] if first <= now else [None, None, first]
            if first <= now:
                self._looks.hasten()
        places = [None if moment is None else to_datetime(moment) for moment in moments]
        return "SELECT %s::timestamptz AS due, %s::timestamptz AS newest, %s::timestamptz AS coming", places

    def lower(self, moment: int) -> None:
        """Orphans are always looked at from the beginning."""

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        """Turn up to `limit` calls that waited long enough into failures."""
        if not self._steps.open():
            return Step()
        settled, most = 0, min(limit, BATCH)
        for orphan in self.found():
            if settled < most:
                settled += _fail(orphan, most - settled)
        full = settled >= most
        if settled:
            self._steps.hasten()
        if full:
            dispatch.more()
        return Step(settled=settled, full=full)

    def waiting(self, endpoint: str) -> bool:
        """Nothing of an orphan is ever run."""
        return False

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        """Nothing of an orphan is ever run."""
        return False


def orphans_of(kind: Kind, waiting: Mapping[Key, tuple[str, int]]) -> dict[Key, Orphan]:
    """Which of some stored calls no code here can make; `waiting` has of each its endpoint and when it wakes."""
    committed, leased = known_endpoints()
    strange = {key: one for key, one in waiting.items() if one[0] not in committed and one[0] not in leased}
    retired = _retired({endpoint for endpoint, _ in strange.values()})
    return {
        key: Orphan(kind=kind, endpoint=endpoint, oldest=wake, retired=retired.get(endpoint))
        for key, (endpoint, wake) in strange.items()
    }


class _Rhythm:
    """Looks of one process: at most one in ten seconds, and one a second while there is something to do.

    By a clock that a test sets every look is made: between two of them nothing passes.
    """

    def __init__(self) -> None:
        self._next = 0

    def open(self) -> bool:
        """Whether it is time for a look; the next one is ten seconds from here."""
        present = clock.clock()
        if not isinstance(present, SystemClock):
            return True
        now = present.now()
        if self._next - EVERY_MS <= now < self._next:
            return False
        self._next = now + EVERY_MS
        return True

    def hasten(self) -> None:
        """There was something: look again in a second."""
        self._next -= EVERY_MS - BACKSTOP_MS


def _fail(orphan: Orphan, limit: int) -> int:
    now = clock.database_now()
    if now < orphan.fails_at:
        return 0
    error = f"nobody made it for {format_duration(orphan.patience_ms)}: {orphan.reason}"
    with transaction.atomic(using=settings.alias()):
        # Whether others of a pair are before it makes no difference: it cannot be made in its turn either.
        taken = orphan.kind.take(orphan.endpoint, now - orphan.patience_ms, limit)
        return sum(_settle(orphan.kind, live, error, now) for live in taken)


def _settle(kind: Kind, live: Live, error: str, now: int) -> bool:
    """Fail one call, in the open transaction, which holds its row; an event for an instance with deadlines stops that
    instance, or does what its state says. False where the call was left as it is."""
    component, _, identity = live.entity.partition(":")
    spec = registry.all().get(component)
    timed = live.pair is not None and live.pair[2] == component and spec is not None and spec.deadlines
    bound = bindings.component(component) if timed else None
    try:
        state = locked_state(bound, identity) if bound is not None else None
    except Busy:
        return False
    match state and state["STATE"]:
        case deadlines.DRAINING:
            return False  # whoever brings the instance up to date comes to it
        case deadlines.FAILED:
            kind.postpone(live, None, live.attempt)
        case deadlines.CLOSED | deadlines.DISCARDED as over:
            settle(kind, live, Outcome.REFUSED, over.upper(), now, now)
        case _:
            fail(kind, live, error, "", now, now)
            if bound is not None and state is not None:
                stop(bound, state)
    return True


def _retired(names: set[str]) -> dict[str, int]:
    """Since when operations are retired, as the last sync of their component says; those that are not are left out."""
    locators = {name.rpartition(".")[0] for name in names}
    if not locators:
        return {}
    rows = Component.objects.using(settings.alias()).filter(locator__in=locators)
    found: dict[str, int] = {}
    for locator, operations, retired_at in rows.values_list("locator", "operations", "retired_at"):
        for name, entry in operations.items():
            moment = entry.get("retired_at") or (None if retired_at is None else to_moment(retired_at))
            if moment is not None and f"{locator}.{name}" in names:
                found[f"{locator}.{name}"] = moment
    return found
