"""Where one run is and why: the facts, gathered by bounded queries over indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toa.cadence.calls.orphans import orphans_of
from toa.cadence.explaining.facts import SHOWN, Line, Stopped, Unmade
from toa.cadence.explaining.gathering import alive, called_by, line_of, lines_of
from toa.core.clock import to_moment
from toa.models import EndedRun, Failure, History, Process, Pulse, Run, RunCall, Schedule
from toa.runtime import clock, settings
from toa.workflow import journals, reports
from toa.workflow.due import RUNS
from toa.workflow.ending import SOURCE
from toa.workflow.explaining.facts import Asked, Awaited, Effect, Followed, Rests, RunFacts
from toa.workflow.explaining.finding import find
from toa.workflow.journals import Sketch
from toa.workflow.performing import CALLS

CUT = 120
"""Characters of a step's value that are read."""


def explain(name: str, wanted: str) -> RunFacts:
    """What is known about a run of a workflow (or of `run`: whichever), by its id or its key.

    Raises NotFound, and InvalidQuery where several runs have the key.
    """
    return facts_of(find(name, wanted))


def facts_of(run: Run | EndedRun) -> RunFacts:
    """What is known about a run that was read just now."""
    now = clock.clock().now()
    steps = journals.last(run, SHOWN, shown=CUT)
    if isinstance(run, Run):
        return _live(run, now, steps)
    return RunFacts(
        **_shared(run, now, steps),
        state=run.outcome,
        ended=to_moment(run.ended_at),
        result=run.error,
        begun=True,
        since=to_moment(run.ended_at),
        wakes=None,
        waits=None,
        effect=None,
        attempts=0,
        error="",
        strikes=0,
        hands=(),
        cancel=None,
        failure=None,
        step=None,
        unmade=None,
        watches=(),
    )


def _live(run: Run, now: int, steps: tuple[Sketch, ...]) -> RunFacts:
    alias = settings.alias()
    state = reports.state(run, now)
    failure = Failure.objects.using(alias).filter(call=run.id, source=SOURCE).first()
    wakes = None if run.wake_at is None else to_moment(run.wake_at)
    return RunFacts(
        **_shared(run, now, steps),
        state=state,
        ended=None,
        result="",
        begun=run.seq > 0,
        since=_since(run, state, steps),
        wakes=wakes,
        waits=_awaited(run, steps),
        effect=_effect(run),
        attempts=run.attempt,
        error=run.error,
        strikes=run.strikes,
        hands=tuple(
            f"{process.pid}@{process.host}"
            for process in Process.objects.using(alias).filter(running__contains=[run.id])[:SHOWN]
        ),
        cancel=None if run.cancel_at is None else Asked(by=run.cancel_by, at=to_moment(run.cancel_at)),
        failure=None if failure is None else _stopped(failure),
        step=None if failure is None else failure.row.get("step"),
        unmade=None if wakes is None else _unmade(RUNS, run, wakes),
        watches=tuple(Followed(name=name, cursor=cursor) for name, (_, cursor) in sorted(run.watches.items())),
    )


def _shared(run: Run | EndedRun, now: int, steps: tuple[Sketch, ...]) -> dict[str, Any]:
    return {
        "id": run.id.hex,
        "endpoint": run.endpoint,
        "key": run.key,
        "now": now,
        "by": called_by(run.cause) if run.cause else "a direct start",
        "planned": to_moment(run.due_at),
        "started": to_moment(run.created_at),
        "paused": tuple(_paused(run.endpoint)),
        "done": reports.steps_done(run),
        "steps": steps,
        "lines": _lines(run),
        "alive": alive(),
    }


def _since(run: Run, state: str, steps: tuple[Sketch, ...]) -> int:
    """Since when a run is in a state: what it did last was followed by the wait."""
    if state == "failed" and run.failed_at is not None:
        return to_moment(run.failed_at)
    if state == "cancelling" and run.cancel_at is not None:
        return to_moment(run.cancel_at)
    if state == "due" and run.wake_at is not None:
        return to_moment(run.wake_at)
    return steps[-1].at if steps else to_moment(run.created_at)


def _awaited(run: Run, steps: tuple[Sketch, ...]) -> Awaited | None:
    waits = run.waits
    if waits is None:
        return None
    # A back-off follows its retry at once.
    note = steps[-1].note if waits["kind"] == "back-off" and steps else ""
    return Awaited(
        position=waits["position"], kind=waits["kind"], name=waits["name"], until=waits.get("until"), note=note
    )


def _effect(run: Run) -> Effect | None:
    if not (run.waits or {}).get("call"):
        return None
    call = RunCall.objects.using(settings.alias()).filter(run=run.id).first()
    if call is None:
        return None
    wake = None if call.wake_at is None else to_moment(call.wake_at)
    return Effect(
        id=call.id.hex,
        endpoint=call.endpoint,
        wake=wake,
        attempts=call.attempt,
        strikes=call.strikes,
        error=call.error,
        running=call.token is not None,
        unmade=None if wake is None else _unmade(CALLS, call, wake),
    )


def _unmade(kind: Any, row: Run | RunCall, wake: int) -> Unmade | None:
    orphan = orphans_of(kind, {row.id: (row.endpoint, wake)}).get(row.id)
    return None if orphan is None else Unmade(reason=orphan.reason, fails=orphan.fails_at)


def _stopped(failure: Failure) -> Stopped:
    return Stopped(
        id=failure.id.hex,
        source=failure.source,
        endpoint=failure.endpoint,
        error=failure.error,
        attempts=failure.attempts,
        at=to_moment(failure.at),
        property="",
    )


def _paused(endpoint: str) -> Iterator[Rests]:
    """What starts runs of the workflow by itself, and does not at present."""
    for kind, model in (("pulse", Pulse), ("schedule", Schedule)):
        rows: Any = model._default_manager.using(settings.alias())
        for row in rows.filter(endpoint=endpoint, retired_at=None, paused_at__isnull=False).order_by("name"):
            yield Rests(kind=kind, name=row.name, since=to_moment(row.paused_at), by=row.paused_by)


def _lines(run: Run | EndedRun) -> tuple[Line, ...]:
    """Its effects that were settled, and what became of itself."""
    own = History.objects.using(settings.alias()).filter(call=run.id).order_by("-at")[:SHOWN]
    found = [*lines_of(f"{SOURCE}:{run.id.hex}"), *(line_of(row) for row in own)]
    return tuple(sorted(found, key=lambda line: line.at, reverse=True)[:SHOWN])
