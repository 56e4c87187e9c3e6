"""Stored calls as rows: what one is, and how the rows of one table are read.

Delays, deliveries and calls of schedules share most columns, and differ in a few of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from toa.runtime import settings
from toa.runtime.sql import MOMENT

_COLUMNS = "id, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, token, mark"
_MOMENTS = frozenset({"due_at", "wake_at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A stored call as found. Moments are epoch ms."""

    id: UUID
    source: str
    """delay, send, delivery, schedule, run or step, as the history shows it."""
    endpoint: str
    request: dict[str, Any]
    due: int
    wake: int
    attempt: int
    strikes: int
    chain: tuple[str, ...]
    cause: dict[str, Any] | None
    token: UUID | None
    mark: dict[str, Any] | None
    entity: str
    """Whom it concerns, as `component:id`."""
    overdue: int | None = None
    """How many ms late it may begin; null: however late."""
    base: int | None = None
    """What `after()` counts from; null: now."""
    pair: tuple[str, str, str] | None = None
    """Of a delivery: source component, source id and receiving component, within which order holds."""
    turn: tuple[int, int] = (0, 0)
    """Of a delivery: its place in its pair, by VERSION of the source and position of the receiver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A table of stored calls, and how its rows differ from the others'."""

    name: str
    table: str
    extra: str
    """Columns beyond the shared ones, as SQL."""
    describe: Callable[[Sequence[Any]], dict[str, Any]]
    """From the extra values to the fields of `Live` that depend on the kind."""
    behind: str = ""
    """Condition as SQL that the row `b` comes before the row `c` and holds it back; empty where nothing does."""
    parks: bool = False
    """Whether a failed call stays, parked, and holds back those behind it."""

    @property
    def columns(self) -> str:
        """All columns that `read` takes, as SQL."""
        return f"{_COLUMNS}, {self.extra}"

    def columns_of(self, row: str) -> str:
        """The columns of a row of that name in the order in which `read` takes them, as SQL."""
        named = [column.strip() for column in self.columns.split(",")]
        return ", ".join(
            MOMENT.format(column=f"{row}.{column}") if column in _MOMENTS else f"{row}.{column}" for column in named
        )

    @property
    def heads(self) -> str:
        """Condition as SQL on the row `c` that leaves out what waits behind something else."""
        return f"AND NOT EXISTS (SELECT 1 FROM {self.table} b WHERE {self.behind})" if self.behind else ""

    def read(self, sql: str, parameters: list[Any]) -> list[Live]:
        with connections[settings.alias()].cursor() as cursor:
            cursor.execute(sql, parameters)
            return [self._live(row) for row in cursor.fetchall()]

    def _live(self, row: Sequence[Any]) -> Live:
        identity, endpoint, request, due_at, wake_at, attempt, strikes, chain, cause, token, mark, *extra = row
        return Live(
            id=identity,
            endpoint=endpoint,
            request=_json(request) or {},
            due=due_at,
            wake=wake_at if wake_at is not None else due_at,
            attempt=attempt,
            strikes=strikes,
            chain=tuple(chain),
            cause=_json(cause),
            token=token,
            mark=_json(mark),
            **self.describe(extra),
        )


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
