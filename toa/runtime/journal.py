"""Writing down what became of calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from toa.core.identity import uuid7
from toa.models import Outcome
from toa.runtime.sql import insert_rows, moment_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """One settled call. Moments are epoch ms."""

    call: UUID
    source: str
    endpoint: str
    outcome: Outcome
    due: int
    at: int
    started: int | None = None
    """When it began; null: it never did, and its lateness counts to `at`."""
    entity: str = ""
    code: str = ""
    attempt: int = 1
    count: int = 1
    cause: Any = None
    request: Any = None
    """Of a delivery: what it asked for, so that it can be sent again."""


def write_history(settled: Sequence[Settled]) -> None:
    """Insert the lines in the open transaction."""
    insert_rows("toa_history", [_row(one) for one in settled])


def _row(one: Settled) -> dict[str, Any]:
    began = one.at if one.started is None else one.started
    # A cause read from a row by a raw cursor is text.
    cause = json.loads(one.cause) if isinstance(one.cause, str) else one.cause
    return {
        "id": uuid7().hex,
        "call": one.call.hex,
        "source": one.source,
        "endpoint": one.endpoint,
        "entity": one.entity,
        "outcome": one.outcome.value,
        "code": one.code[:200],
        "due_at": moment_text(one.due),
        "at": moment_text(one.at),
        "lateness_ms": max(0, began - one.due),
        "attempt": one.attempt,
        "count": one.count,
        "cause": cause,
        "request": one.request,
    }
