"""A stored call as a row of its table, before anything of it was tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from toa.core.clock import to_datetime
from toa.runtime.table import jsonb


def fresh(
    identity: UUID,
    endpoint: str,
    request: dict[str, Any] | None,
    *,
    due: int,
    now: int,
    cause: dict[str, Any],
    chain: Sequence[str] = (),
) -> dict[str, Any]:
    """The columns that all tables of stored calls share, to be completed by those of the table. Moments are epoch ms.

    The call wakes when it is due, and never in the past: a look that starts where everything older is settled must
    find it.
    """
    return {
        "id": identity,
        "endpoint": endpoint,
        "request": jsonb(request),
        "due_at": to_datetime(due),
        "wake_at": to_datetime(max(due, now)),
        "attempt": 0,
        "strikes": 0,
        "chain": list(chain),
        "cause": jsonb(cause),
        "created_at": to_datetime(now),
    }
