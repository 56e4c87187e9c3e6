"""Status and health as facts: data ready for JSON, the same for a command and for whoever asks over HTTP."""

from __future__ import annotations

from typing import Any

from toa.cadence.reports.backlog import Backlog, Count
from toa.cadence.reports.health import Health
from toa.cadence.reports.status import Status
from toa.core.clock import to_moment
from toa.models import Process


def of_status(status: Status, health: Health) -> dict[str, Any]:
    """Everything, with moments in epoch ms and durations in ms. A count is its number and whether there is more."""
    return {
        "health": health.level.value,
        "sentence": health.sentence,
        "problems": [{"health": one.level.value, "what": one.what, "advice": one.advice} for one in health.problems],
        "now": status.now,
        "next": status.next,
        "ticked": status.ticked,
        "processes": [_process(process) for process in status.processes],
        "effects_at_once": status.effects_at_once,
        "sources": {
            one.name: {
                "late_since": one.late,
                "lateness_ms": None if one.late is None else max(0, status.now - one.late),
                "next": one.next,
                **({} if one.calls is None else _calls(one.calls)),
            }
            for one in status.sources
        },
        "failures": of_count(status.failures),
        "oldest_failure": status.oldest_failure,
        "orphans": [
            {
                "endpoint": one.orphan.endpoint,
                "source": one.orphan.kind.name,
                "calls": of_count(one.calls),
                "behind": of_count(one.behind),
                "oldest": one.orphan.oldest,
                "retired": one.orphan.retired,
                "fails_at": one.orphan.fails_at,
                "reason": one.orphan.reason,
            }
            for one in status.orphans
        ],
        "paused": list(status.paused),
        "unreadable": {locator: of_count(rows) for locator, rows in status.unreadable.items()},
    }


def of_count(count: Count) -> dict[str, Any]:
    """A count as data."""
    return {"number": count.number, "more": count.more}


def _calls(calls: Backlog) -> dict[str, Any]:
    return {
        "waiting": of_count(calls.waiting),
        "running": of_count(calls.running),
        "within_hour": of_count(calls.within_hour),
        "parked": of_count(calls.parked),
    }


def _process(process: Process) -> dict[str, Any]:
    return {
        "kind": process.kind,
        "host": process.host,
        "pid": process.pid,
        "started": to_moment(process.started_at),
        "seen": to_moment(process.seen_at),
        "capacity": process.capacity,
        "skew_ms": process.skew_ms,
    }
