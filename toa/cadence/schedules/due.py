"""Schedules as a source of due work: occurrences become stored calls, which are fired in the same pass."""

from __future__ import annotations

from typing import Any

from toa.cadence.calls.due import StoredCalls, known_endpoints
from toa.cadence.calls.live import Kind
from toa.cadence.declared import in_force
from toa.cadence.schedules.calls import EXTRA, described
from toa.cadence.schedules.occurring import SOURCE, reach
from toa.cadence.source import Dispatch, Step
from toa.runtime import clock


class Schedules(StoredCalls):
    """The rows of `Schedule`, and the calls that came of them."""

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        now = clock.clock().expression()
        of = "SELECT s.wake_at FROM toa_schedule s WHERE s.endpoint = e.endpoint AND s.wake_at"
        calendar = (
            f"SELECT ({of} <= {now} ORDER BY s.wake_at, s.id LIMIT 1) AS due,"
            f" ({of} <= {now} ORDER BY s.wake_at DESC, s.id DESC LIMIT 1) AS newest,"
            f" ({of} > {now} ORDER BY s.wake_at, s.id LIMIT 1) AS coming FROM unnest(%s::text[]) AS e(endpoint)"
        )
        calls, parameters = super().horizon(since)
        sql = (
            f"SELECT min(h.due) AS due, max(h.newest) AS newest, min(h.coming) AS coming"
            f" FROM ({calendar} UNION ALL ({calls})) AS h(due, newest, coming)"
        )
        return sql, [_scheduled(), *parameters]

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        endpoints = _scheduled()
        reached = reach(endpoints, limit, dispatch) if endpoints else Step()
        return reached + super().step(limit, dispatch)


def _scheduled() -> list[str]:
    """The endpoints with a schedule whose calls this code can make."""
    committed, leased = known_endpoints()
    known = {*committed, *leased}
    return [endpoint for endpoint in in_force().scheduled if endpoint in known]


SCHEDULES = Schedules(
    Kind(
        name=SOURCE,
        table="toa_scheduledcall",
        extra=EXTRA,
        describe=described,
        behind="NOT c.beside AND b.schedule = c.schedule AND b.due_at < c.due_at AND NOT b.beside",
    )
)
"""Calls at occurrences of the calendar, one occurrence of a schedule after another unless it allows overlap."""
