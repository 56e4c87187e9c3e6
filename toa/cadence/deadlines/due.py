"""Deadlines as a source of due work: found by an index over the rows themselves, run instance by instance."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import InterfaceError, OperationalError, connections

from toa.cadence.calls.guarding import FUNCTION_MS, FUNCTIONS_MS
from toa.cadence.calls.suspects import docket
from toa.cadence.deadlines.draining import drain
from toa.cadence.deadlines.indexed import indexed
from toa.cadence.deadlines.instances import reach
from toa.cadence.deadlines.rounds import run_round
from toa.cadence.source import Dispatch, Step
from toa.core.allowance import Allowance, allowing
from toa.core.deadlines import DRAINING
from toa.manifests import registry
from toa.models.bounds import FIRST, READABLE
from toa.models.schedule_indexes import moments
from toa.runtime import bindings, clock, settings
from toa.runtime.bindings import Component

logger = logging.getLogger("toa.cadence")

LOOKS = 8
"""How many pages of what is due a step looks at where others work on the first ones."""


class Deadlines:
    """Every instance of every component with deadlines."""

    name = "deadline"

    def horizon(self, since: int | None = None) -> tuple[str, list[Any]]:
        now = clock.clock().expression()
        parts = []
        for component in indexed(components()):
            for moment, condition, order in looks(component):
                of = f"SELECT {moment} FROM {table_of(component)} c WHERE {condition} AND {moment}"
                parts.append(
                    f"SELECT ({of} <= {now} ORDER BY {order} LIMIT 1) AS due,"
                    f" ({of} <= {now} ORDER BY {moment} DESC, c.id DESC LIMIT 1) AS newest,"
                    f" ({of} > {now} ORDER BY {order} LIMIT 1) AS coming"
                )
        if not parts:
            return "SELECT NULL::timestamptz, NULL::timestamptz, NULL::timestamptz", []
        return f"SELECT min(u.due), max(u.newest), min(u.coming) FROM ({' UNION ALL '.join(parts)}) u", []

    def lower(self, moment: int) -> None:
        """Deadlines are always looked at from the beginning: their rows stay."""

    def step(self, limit: int, dispatch: Dispatch) -> Step:
        """Rounds over what is due: at most one deadline of each instance in a round, the earliest first."""
        step = Step()
        for component in indexed(components()):
            with allowing(Allowance(FUNCTION_MS, FUNCTIONS_MS)) as allowance:
                step += _rounds(component, limit, dispatch, allowance)
        return step

    def waiting(self, endpoint: str) -> bool:
        """No deadline is leased: its transition commits with it."""
        return False

    def perform(self, endpoint: str, *, renew: bool) -> bool:
        """No deadline is leased: its transition commits with it."""
        return False


DEADLINES = Deadlines()


def components() -> Iterator[Component]:
    """Every component with deadlines."""
    for spec in registry.all().values():
        if spec.deadlines:
            yield bindings.component(spec.locator)


def _rounds(component: Component, limit: int, dispatch: Dispatch, allowance: Allowance) -> Step:
    found = _due(component, limit)
    full = len(found) >= limit
    if full:
        dispatch.more()
    settled = locked = skipped = 0
    while found and settled < limit and not allowance.used_up:
        done = _round(component, found, allowance)
        settled += len(done)
        locked += len(found) - len(done)
        if len(found) >= limit and 2 * len(done) < limit and skipped < LOOKS * limit:
            # Others work on these: those behind them have their turn.
            skipped += limit
            found = _due(component, limit, skipped)
        else:
            # Another one of the same instance may be due: it has its turn after everybody's first.
            found = {one: draining for one, draining in _due(component, limit).items() if one in done}
    return Step(settled=settled, full=settled > 0 and (full or allowance.used_up), locked=locked)


def _round(component: Component, found: Mapping[Any, bool], allowance: Allowance) -> set[Any]:
    """Take each of these instances one deadline on, or as far as a drain goes; returns those that were free."""
    done: set[Any] = set()
    alone: Iterable[Any] = found
    running = [identity for identity, draining in found.items() if not draining]
    # A set of one is no set.
    if settings.get("SETWISE") and len(running) > 1:
        with allowance.part(of=2):  # a round may be undone, and is run one by one then
            ran = run_round(component, running, docket(), allowance)
        done = ran.done
        alone = [*(identity for identity, draining in found.items() if draining), *ran.alone]
    for number, one in enumerate(alone):
        if number and allowance.used_up:
            break
        if _advance(component, one, found[one]):
            done.add(one)
    return done


def _advance(component: Component, identity: Any, draining: bool) -> bool:
    try:
        return (draining and drain(component, identity)) or reach(component, identity)
    except (OperationalError, InterfaceError):
        raise  # without the database there is no pass
    except Exception:
        # What went wrong could not even be recorded. The instance stays due, and the others have their turn.
        entity = f"{component.locator}:{identity}"
        logger.exception("%s could not be settled", entity, extra={"action": "not_settled", "entity": entity})
        return False


def _due(component: Component, limit: int, skipped: int = 0) -> dict[Any, bool]:
    """The ids of instances with something due, by moment, and whether they are draining; what is held until a moment
    that has come is among them. The first `skipped` of them are left out."""
    now = clock.clock().expression()
    quote = connections[settings.alias()].ops.quote_name
    state = f"c.{quote(component.table.columns['STATE'])}"
    parts = [
        f"(SELECT c.id, {state} AS state, {moment} AS moment FROM {table_of(component)} c"
        f" WHERE {condition} AND {moment} <= {now} ORDER BY {order} LIMIT {int(limit + skipped)})"
        for moment, condition, order in looks(component)
    ]
    with connections[settings.alias()].cursor() as cursor:
        cursor.execute(
            f"SELECT d.state, d.id FROM ({' UNION ALL '.join(parts)}) d"
            f" ORDER BY d.moment, d.id LIMIT {int(limit)} OFFSET {int(skipped)}"
        )
        return {component.table.identity(identity): state == DRAINING for state, identity in cursor.fetchall()}


def looks(component: Component) -> list[tuple[str, str, str]]:
    """The two ways to find an instance, each served by an index: its moment, the condition, and the order, as SQL.

    A moment that no code can read is left out, for the others' sake; see `unreadable`.
    """
    return [(moment, f"{condition} AND {moment} {READABLE}", order) for moment, condition, order in _places(component)]


def unreadable(component: Component) -> list[str]:
    """Queries as SQL for instances that never come due: SQL gave them a moment before the year 1."""
    return [
        f"SELECT 1 FROM {table_of(component)} c WHERE {condition} AND {moment} < '{FIRST.isoformat()}'::timestamptz"
        # In the order of the index, which finds that there are none; the planner thinks of many, and reads the table.
        f" ORDER BY {order}"
        for moment, condition, order in _places(component)
    ]


def _places(component: Component) -> list[tuple[str, str, str]]:
    columns = component.table.columns
    quote = connections[settings.alias()].ops.quote_name
    least = f"LEAST({', '.join(f'c.{quote(columns[name])}' for name in moments(component.spec))})"
    state, held, deleted = (f"c.{quote(columns[name])}" for name in ("STATE", "HELD", "DELETED"))
    return [
        (least, f"{state} IS NULL AND {held} IS NULL AND {deleted} IS NULL", f"{least}, c.id"),
        (held, f"{held} IS NOT NULL AND {deleted} IS NULL", f"{held}, c.id"),
    ]


def table_of(component: Component) -> str:
    return connections[settings.alias()].ops.quote_name(component.table.model._meta.db_table)
