"""Runs as an operator looks at them: those on their way and those that ended, by pages; one with all its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from toa.cadence.reports.marks import behind, mark, read_mark
from toa.core.clock import to_moment
from toa.exceptions import InvalidQuery
from toa.models import EndedRun, Failure, Outcome, Run, RunStep
from toa.runtime import clock, settings
from toa.workflow.ending import SOURCE

PAGE = 100
"""Runs on a page, unless asked otherwise."""
MOST = 1_000
"""Runs on a page at most."""

STATES: Mapping[str, Q] = {
    "failed": Q(failed_at__isnull=False),
    "cancelling": Q(failed_at=None, cancel_at__isnull=False),
    "waiting": Q(failed_at=None, cancel_at=None, waits__call__isnull=False),
    "sleeping": Q(failed_at=None, cancel_at=None, waits__isnull=False, waits__call__isnull=True),
}
"""What a run that is on its way may be listed by: it rests after a failure, its end was asked for, it waits for an
effect, it waits for a moment."""

OUTCOMES = (Outcome.MADE, Outcome.REFUSED, Outcome.FAILED, Outcome.CANCELLED)
"""What may become of a run."""

Found = TypeVar("Found", Run, EndedRun)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Some runs on their way, by the moment they were planned for."""

    runs: tuple[Run, ...]
    after: str | None
    """The mark where the next page begins; null where there is none."""
    now: int
    """When it was read, epoch ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Some runs that have ended, the latest first."""

    runs: tuple[EndedRun, ...]
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a run. `at` is epoch ms, null for the one that is waited for."""

    position: int
    kind: str
    """now, sleep, call, deadline, retry, back-off, watch or occurrence."""
    name: str
    outcome: str
    """made, error, raised, expired, cancelled; `waits` for the one that is waited for."""
    value: Any
    at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One run with all its steps."""

    run: Run | EndedRun
    state: str
    steps: tuple[Step, ...]
    watches: Mapping[str, int]
    """Identity of each watch -> its cursor, epoch ms: the first start of its latest delivery that is settled."""
    failure: Failure | None
    """What it rests after."""


def live(*, endpoint: str | None = None, state: str | None = None, limit: int = PAGE, after: str | None = None) -> Live:
    """Runs on their way, at most `limit` of them (1 to 1000), of one endpoint, in one state of `STATES`.

    `after` is the mark of the page before. Raises InvalidQuery.
    """
    rows = Run.objects.using(settings.alias()).order_by("due_at", "id")
    if endpoint is not None:
        rows = rows.filter(endpoint=endpoint)
    if state is not None:
        if state not in STATES:
            raise InvalidQuery(f"no run is {state!r}; there is {', '.join(STATES)}")
        rows = rows.filter(STATES[state])
    if after is not None:
        rows = rows.filter(behind("due_at", *read_mark(after)))
    found, mark = _page(rows, limit, "due_at")
    return Live(runs=found, after=mark, now=clock.clock().now())


def ended(
    *, endpoint: str | None = None, outcome: str | None = None, limit: int = PAGE, after: str | None = None
) -> Ended:
    """Runs that have ended, at most `limit` of them (1 to 1000), of one endpoint, with one outcome (made, refused,
    failed, cancelled). `after` is the mark of the page before. Raises InvalidQuery."""
    rows = EndedRun.objects.using(settings.alias()).order_by("-ended_at", "-id")
    if endpoint is not None:
        rows = rows.filter(endpoint=endpoint)
    if outcome is not None:
        rows = rows.filter(outcome=outcome)
    if after is not None:
        rows = rows.filter(behind("ended_at", *read_mark(after), descending=True))
    found, mark = _page(rows, limit, "ended_at")
    return Ended(runs=found, after=mark)


def show(identity: UUID) -> Shown | None:
    """A run with all its steps, on its way or ended; null where there is none."""
    alias = settings.alias()
    run = Run.objects.using(alias).filter(id=identity).first()
    if run is None:
        over = EndedRun.objects.using(alias).filter(id=identity).first()
        if over is None:
            return None
        steps = tuple(Step(**step) for step in over.steps)
        return Shown(run=over, state=over.outcome, steps=steps, watches={}, failure=None)
    journal = RunStep.objects.using(alias).filter(run=identity).order_by("position")
    done = [
        Step(
            position=step.position,
            kind=step.kind,
            name=step.name,
            outcome=step.outcome,
            value=step.value,
            at=to_moment(step.at),
        )
        for step in journal
    ]
    if run.waits is not None:
        waits = run.waits
        done.append(
            Step(
                position=waits["position"],
                kind=waits["kind"],
                name=waits["name"],
                outcome="waits",
                value=waits.get("until"),
                at=None,
            )
        )
    return Shown(
        run=run,
        state=state(run, clock.clock().now()),
        steps=tuple(done),
        watches={name: cursor for name, (_, cursor) in run.watches.items()},
        failure=Failure.objects.using(alias).filter(call=identity, source=SOURCE).first(),
    )


def state(run: Run, now: int) -> str:
    """What a run on its way does at a moment (epoch ms): failed, cancelling, due, waiting (for an effect) or
    sleeping."""
    if run.failed_at is not None:
        return "failed"
    if run.cancel_at is not None:
        return "cancelling"
    if run.wake_at is not None and to_moment(run.wake_at) <= now:
        return "due"
    return "waiting" if (run.waits or {}).get("call") else "sleeping"


def waits_for(run: Run) -> str:
    """What a run on its way waits for, as its kind and name; empty where it waits for nothing."""
    waits = run.waits or {}
    return f"{waits.get('kind', '')} {waits.get('name', '')}".strip()


def _page(rows: QuerySet[Found], limit: int, column: str) -> tuple[tuple[Found, ...], str | None]:
    if not 1 <= limit <= MOST:
        raise InvalidQuery(f"a page has 1 to {MOST} runs, not {limit}")
    found = list(rows[: limit + 1])
    shown = tuple(found[:limit])
    return shown, mark(getattr(shown[-1], column), shown[-1].id) if len(found) > limit else None
