"""Runs as an operator looks at them: those on their way and those that ended, by pages; one with its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from django.db.models import F, Func, IntegerField, Q, QuerySet

from toa.cadence.reports.marks import behind, mark, read_mark
from toa.core.clock import to_moment
from toa.exceptions import InvalidQuery
from toa.models import EndedRun, Failure, Outcome, Run
from toa.runtime import clock, settings
from toa.workflow import journals
from toa.workflow.ending import SOURCE
from toa.workflow.journals import Step

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
class Shown:
    """One run with a page of its steps."""

    run: Run | EndedRun
    state: str
    steps: tuple[Step, ...]
    after: int | None
    """The position that the next page is asked for with; null where there is none."""
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
    rows = over().order_by("-ended_at", "-id")
    if endpoint is not None:
        rows = rows.filter(endpoint=endpoint)
    if outcome is not None:
        rows = rows.filter(outcome=outcome)
    if after is not None:
        rows = rows.filter(behind("ended_at", *read_mark(after), descending=True))
    found, mark = _page(rows, limit, "ended_at")
    return Ended(runs=found, after=mark)


def find(identity: UUID) -> Run | EndedRun | None:
    """A run on its way or ended, without its steps; null where there is none."""
    alias = settings.alias()
    run = Run.objects.using(alias).filter(id=identity).first()
    return run if run is not None else over().filter(id=identity).first()


def show(identity: UUID, *, limit: int = journals.PAGE, after: int | None = None) -> Shown | None:
    """A run with a page of its steps, from the first one on, on its way or ended; null where there is none.

    A page has at most `limit` steps (1 to 1000), and `after` is the position from the page before; see
    `toa.workflow.journals`. What the run waits for is the last step of the last page. Raises InvalidQuery.
    """
    run = find(identity)
    if run is None:
        return None
    steps, following = journals.page(run, limit=limit, after=after)
    if isinstance(run, EndedRun):
        return Shown(run=run, state=run.outcome, steps=steps, after=following, watches={}, failure=None)
    waits = run.waits
    if waits is not None and following is None:
        waiting = Step(
            position=waits["position"],
            kind=waits["kind"],
            name=waits["name"],
            outcome="waits",
            value=waits.get("until"),
            at=None,
        )
        steps = (*steps, waiting)
    return Shown(
        run=run,
        state=state(run, clock.clock().now()),
        steps=steps,
        after=following,
        watches={name: cursor for name, (_, cursor) in run.watches.items()},
        failure=Failure.objects.using(settings.alias()).filter(call=identity, source=SOURCE).first(),
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


def steps_done(run: Run | EndedRun) -> int:
    """How many steps the journal of a run has that was found here."""
    return run.steps if isinstance(run, Run) else int(vars(run)["steps_done"])


def over() -> QuerySet[EndedRun]:
    """Runs that have ended, with the length of their journals in place of these: one may have megabytes."""
    length = Func(F("steps"), function="jsonb_array_length", output_field=IntegerField())
    return EndedRun.objects.using(settings.alias()).defer("steps").annotate(steps_done=length)


def _page(rows: QuerySet[Found], limit: int, column: str) -> tuple[tuple[Found, ...], str | None]:
    if not 1 <= limit <= MOST:
        raise InvalidQuery(f"a page has 1 to {MOST} runs, not {limit}")
    found = list(rows[: limit + 1])
    shown = tuple(found[:limit])
    return shown, mark(getattr(shown[-1], column), shown[-1].id) if len(found) > limit else None
