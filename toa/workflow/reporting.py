"""Runs as data, for programs. Moments are epoch ms."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from toa.core.clock import to_moment
from toa.models import EndedRun, Run
from toa.workflow import reports
from toa.workflow.reports import Shown


def of_run(run: Run | EndedRun, now: int) -> dict[str, Any]:
    """A run without its steps; `now` is when it was read."""
    shared = {
        "id": run.id.hex,
        "endpoint": run.endpoint,
        "key": run.key,
        "input": (run.request or {}).get("input"),
        "due": to_moment(run.due_at),
        "started": to_moment(run.created_at),
        "cause": run.cause,
        "steps_done": reports.steps_done(run),
    }
    if isinstance(run, EndedRun):
        return shared | {
            "state": run.outcome,
            "ended": to_moment(run.ended_at),
            "result": run.result,
            "error": run.error,
        }
    return shared | {
        "state": reports.state(run, now),
        "wakes": _moment(run.wake_at),
        "waits": run.waits,
        "cancelled_by": run.cancel_by,
        "failed": _moment(run.failed_at),
    }


def of_shown(shown: Shown, now: int) -> dict[str, Any]:
    """A run with a page of its steps, the cursors of its watches and the id of the failure that it rests after."""
    return of_run(shown.run, now) | {
        "state": shown.state,
        "watches": dict(shown.watches),
        "steps": [asdict(step) for step in shown.steps],
        "failure": None if shown.failure is None else shown.failure.id.hex,
    }


def _moment(value: datetime | None) -> int | None:
    return None if value is None else to_moment(value)
