"""Runs of workflows as lines for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.utils.text import Truncator

from toa.cadence.explaining.telling import when
from toa.core.clock import to_moment
from toa.models import EndedRun, Run
from toa.workflow import reports
from toa.workflow.reports import Shown


def live_row(run: Run, now: int) -> tuple[Any, ...]:
    """The cells of a run on its way: id, workflow, state, what it waits for, when it goes on, steps, when it began."""
    return (
        run.id.hex,
        run.endpoint,
        reports.state(run, now),
        reports.waits_for(run),
        "" if run.wake_at is None else when(to_moment(run.wake_at), now),
        run.steps,
        when(to_moment(run.created_at), now),
    )


def ended_row(run: EndedRun, now: int) -> tuple[Any, ...]:
    """The cells of a run that ended: id, workflow, outcome, when, steps, error."""
    error = Truncator(run.error).chars(100)
    return run.id.hex, run.endpoint, run.outcome, when(to_moment(run.ended_at), now), reports.steps_done(run), error


def sentences(shown: Shown, now: int) -> Iterator[str]:
    """What there is to say of a run before its steps, a line each."""
    run = shown.run
    yield f"{run.endpoint}: {shown.state}"
    yield _line("id", run.id.hex)
    if run.key:
        yield _line("key", run.key)
    yield _line("input", json.dumps((run.request or {}).get("input"), ensure_ascii=False))
    yield _line("started", when(to_moment(run.created_at), now))
    if isinstance(run, EndedRun):
        yield _line("ended", when(to_moment(run.ended_at), now))
        if run.error:
            yield _line("error", run.error)
        yield _line("result", json.dumps(run.result, ensure_ascii=False))
    else:
        if run.waits is not None:
            yield _line("waits", f"for {reports.waits_for(run)}")
        if run.wake_at is not None:
            yield _line("goes on", when(to_moment(run.wake_at), now))
        if run.cancel_at is not None:
            yield _line("cancel", f"asked for {when(to_moment(run.cancel_at), now)} by {run.cancel_by or 'code'}")
    for name, cursor in shown.watches.items():
        yield _line("watch", f"{name or 'without a key'}, settled up to {when(cursor, now)}")
    if shown.failure is not None:
        failure = shown.failure
        yield _line("failed", f"{failure.error} (toa failures show {failure.id.hex})")
    if run.cause:
        yield _line("cause", json.dumps(run.cause, ensure_ascii=False))


def _line(name: str, text: str) -> str:
    return f"  {name:<9}{text}"
