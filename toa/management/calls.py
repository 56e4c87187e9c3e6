"""One stored call for a person or a program: as it waits, and what became of it."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from toa.cadence.explaining.telling import when
from toa.cadence.reports import armed
from toa.cadence.reports.health import roughly
from toa.core.clock import to_moment
from toa.core.duration import format_duration
from toa.management.console import Console
from toa.management.verbs import DONE, NO
from toa.models import Delay, Failure, History
from toa.runtime import clock


def as_data(call: Delay, now: int) -> dict[str, Any]:
    """A stored call with moments in epoch ms and durations in ms."""
    due = to_moment(call.due_at)
    return {
        "id": call.id.hex,
        "source": call.source,
        "endpoint": call.endpoint,
        "entity": call.entity,
        "key": call.name,
        "state": armed.state(call, now),
        "due": due,
        "lateness_ms": max(0, now - due),
        "next_look": None if call.wake_at is None else to_moment(call.wake_at),
        "attempts": call.attempt,
        "error": call.error,
        "strikes": call.strikes,
        "overdue_ms": call.overdue_ms,
        "request": call.request,
        "cause": call.cause,
        "created": to_moment(call.created_at),
    }


def show(identity: UUID, console: Console) -> int:
    """Print everything that is known of a call; returns the exit code, which is 1 for an id that nobody knows."""
    now = clock.clock().now()
    call, lines, failure = armed.find(identity), armed.history(identity), armed.failure(identity)
    if console.as_json:
        console.document(
            {
                "now": now,
                "call": None if call is None else as_data(call, now),
                "failure": None if failure is None else _failure(failure),
                "history": [_line(line) for line in lines],
            }
        )
    else:
        _write(identity, call, lines, failure, console, now)
    return DONE if call is not None or lines or failure is not None else NO


def _write(
    identity: UUID, call: Delay | None, lines: list[History], failure: Failure | None, console: Console, now: int
) -> None:
    if call is not None:
        _write_call(call, console, now)
    elif failure is not None:
        console.say(f"{failure.endpoint} failed and waits for a decision: {failure.error}")
        console.say(f"look at it with: toa failures show {failure.id.hex}")
    elif lines:
        console.say(f"{lines[-1].endpoint} is settled: {lines[-1].outcome} {lines[-1].code}".rstrip())
    else:
        console.say(f"No call {identity.hex} is known: it was never stored, or its history is pruned.")
    if lines:
        console.say()
        console.table(
            ("SETTLED", "OUTCOME", "CODE", "DUE", "LATE BY", "ATTEMPT"),
            [
                (
                    when(to_moment(line.at), now),
                    line.outcome,
                    line.code,
                    when(to_moment(line.due_at), now),
                    roughly(line.lateness_ms),
                    line.attempt,
                )
                for line in lines
            ],
        )


def _write_call(call: Delay, console: Console, now: int) -> None:
    console.say(f"{call.endpoint}: a {call.source}, {armed.state(call, now)}")
    expires = "never, however late" if call.overdue_ms is None else f"when {format_duration(call.overdue_ms)} late"
    for name, value in (
        ("id", call.id.hex),
        ("due", when(to_moment(call.due_at), now)),
        ("next look", when(to_moment(call.wake_at or call.due_at), now)),
        ("expires", expires),
        ("attempts", f"{call.attempt}, strikes {call.strikes}"),
        ("error", call.error or "-"),
        ("entity", call.entity or "-"),
        ("key", call.name or "-"),
        ("stored", when(to_moment(call.created_at), now)),
        ("request", json.dumps(call.request, ensure_ascii=False)),
        ("cause", json.dumps(call.cause, ensure_ascii=False)),
    ):
        console.say(f"  {name:<10}{value}")


def _failure(failure: Failure) -> dict[str, Any]:
    return {"id": failure.id.hex, "error": failure.error, "attempts": failure.attempts, "at": to_moment(failure.at)}


def _line(line: History) -> dict[str, Any]:
    return {
        "at": to_moment(line.at),
        "outcome": line.outcome,
        "code": line.code,
        "due": to_moment(line.due_at),
        "lateness_ms": line.lateness_ms,
        "attempt": line.attempt,
        "cause": line.cause,
    }
