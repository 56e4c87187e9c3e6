"""What operators can do in the lists. Each action is one function of `toa.cadence.actions` or
`toa.workflow.actions`, under its permission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toa.admin.acting import GONE, Act, Run, Subject
from toa.admin.moving import MoveForm
from toa.cadence.actions import delays, failures, operating, replaying
from toa.exceptions import NotFound
from toa.models import Pulse, Schedule
from toa.models import Run as WorkflowRun
from toa.workflow import actions as runs


def _by_key(act: Callable[..., str]) -> Run:
    return lambda subject, by, given: act(subject.pk, by)


def _move(subject: Subject, by: str, given: Mapping[str, Any]) -> str:
    return delays.move(subject.pk, by, interval=given["interval"], at=given["at"])


def _on_row(act: Callable[[Any, str], str]) -> Run:
    def run(subject: Subject, by: str, given: Mapping[str, Any]) -> str:
        if subject.row is None:
            raise NotFound(GONE)
        return act(subject.row, by)

    return run


def _rests(run: WorkflowRun) -> bool:
    return run.failed_at is not None


def _replay(line: Any, by: str) -> str:
    return f"sent again as {replaying.replay(line.call, by).hex}"


CANCEL = Act(
    name="cancel",
    title="Cancel",
    permission=delays.CANCEL,
    run=_by_key(delays.cancel),
    done={delays.CANCELLED},
    question="Cancel? These calls will not be made. This cannot be taken back.",
    removes=True,
)
MOVE = Act(name="move", title="Move", permission=delays.MOVE, run=_move, done={delays.MOVED}, form=MoveForm)
FIRE = Act(name="fire", title="Make now", permission=delays.MOVE, run=_by_key(delays.fire), done={delays.FIRED})

RETRY = Act(
    name="retry",
    title="Retry",
    permission=failures.RETRY,
    run=_by_key(failures.retry),
    done={failures.AGAIN},
    removes=True,
)
DISCARD = Act(
    name="discard",
    title="Discard",
    permission=failures.DISCARD,
    run=_by_key(failures.discard),
    done={failures.LET_GO},
    question="Discard? These calls will not be made. What is parked behind them goes on. This cannot be taken back.",
    removes=True,
)

REPLAY = Act(
    name="replay",
    title="Send again",
    permission=replaying.REPLAY,
    run=_on_row(_replay),
    question="Send again? The receiver gets the event once more, as another call under another key: what it did"
    " the first time, it does a second time.",
    offered=lambda line: line.source == "delivery",
)


ON_RUNS = (
    Act(
        name="cancel",
        title="Cancel",
        permission=runs.CANCEL,
        run=_by_key(runs.cancel),
        done={runs.CANCELLED, runs.CANCELLING},
        question="Cancel? The workflow is told so at its next wait, and cleans up. This cannot be taken back.",
        offered=lambda row: row.cancel_at is None or row.failed_at is not None,
    ),
    Act(
        name="retry",
        title="Retry",
        permission=failures.RETRY,
        run=_by_key(runs.retry),
        done={failures.AGAIN},
        offered=_rests,
    ),
    Act(
        name="discard",
        title="Discard",
        permission=failures.DISCARD,
        run=_by_key(runs.discard),
        done={failures.LET_GO},
        question="Discard? These runs do not go on, and what they would have cleaned up stays."
        " This cannot be taken back.",
        removes=True,
        offered=_rests,
    ),
)


def resting(pausing: str, firing: str) -> tuple[Act, ...]:
    """Of pulses or schedules, by the permissions to pause and to fire."""
    return (
        Act(
            name="pause",
            title="Pause",
            permission=pausing,
            run=_on_row(operating.pause),
            done={operating.PAUSED},
            offered=lambda row: row.retired_at is None and row.paused_at is None,
        ),
        Act(
            name="resume",
            title="Resume",
            permission=pausing,
            run=_on_row(operating.resume),
            done={operating.RESUMED},
            offered=lambda row: row.retired_at is None and row.paused_at is not None,
        ),
        Act(
            name="fire",
            title="Call now",
            permission=firing,
            run=_on_row(operating.fire),
            done={operating.FIRED},
            offered=_callable_now,
        ),
    )


def _callable_now(row: Pulse | Schedule) -> bool:
    return row.retired_at is None and getattr(row, "scope", "group") == "group"


ON_PULSES = resting(operating.PAUSE_PULSE, operating.FIRE_PULSE)
ON_SCHEDULES = resting(operating.PAUSE_SCHEDULE, operating.FIRE_SCHEDULE)
