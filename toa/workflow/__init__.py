"""Workflows: functions whose awaits survive restarts, kept as journals in PostgreSQL."""

from __future__ import annotations


def install() -> None:
    """Make runs a source of due work, and their effects another. Called once, when the apps are ready."""
    from toa.cadence import sources
    from toa.cadence.actions.failures import decide_for
    from toa.cadence.calls.settling import tell
    from toa.cadence.explaining.acting import tell_of_runs
    from toa.workflow.actions import Decided
    from toa.workflow.due import RUNS, SOURCES, Resting
    from toa.workflow.explaining.finding import stand
    from toa.workflow.performing import CALLS, Told

    sources.add(*SOURCES)
    tell(CALLS.name, Told())
    tell(RUNS.name, Resting())
    decide_for(RUNS.name, Decided())
    tell_of_runs(stand)
