"""A run by what a person has of it: its id, or the key that it was started under."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from toa.cadence.explaining.acting import Standing
from toa.core.clock import to_moment
from toa.core.identity import LONGEST_KEY, check_key
from toa.exceptions import InvalidInput, InvalidQuery, NotFound
from toa.manifests import registry
from toa.models import EndedRun, Run
from toa.runtime import clock, settings
from toa.runtime.starting import run_id
from toa.workflow import reports
from toa.workflow.due import workflows

ANY = "run"
"""Stands for whichever workflow."""
FEW = 5
"""Of so many runs with one key a person is told."""


def names_runs(name: str) -> bool:
    """Whether a name stands for runs: that of a workflow, or ANY."""
    return name in workflows() or (name == ANY and name not in registry.all())


def find(name: str, wanted: str) -> Run | EndedRun:
    """The run of a workflow, or of ANY, by its id or its key.

    Where several have the key, those on their way count. Raises NotFound, and InvalidQuery where several are left.
    """
    identity = _identity(wanted)
    found = None if identity is None else reports.find(identity)
    if found is not None and name in (ANY, found.endpoint):
        return found
    runs = _by_key(workflows() if name == ANY else [name], wanted, every=name == ANY)
    if not runs:
        raise NotFound(
            f"no run{'' if name == ANY else f' of {name}'} has the id or the key {wanted[:LONGEST_KEY]!r}",
            hint="it never was, or its record was pruned",
        )
    if len(runs) > 1:
        ids = ", ".join(f"{run.id.hex} of {run.endpoint}" for run in runs)
        raise InvalidQuery(f"several runs have the key {wanted!r}: {ids}", hint="name one by its id")
    return runs[0]


def stand(identities: Collection[UUID]) -> Mapping[UUID, Standing]:
    """Where some runs are; those of which nothing is kept are left out. Two queries."""
    now, alias = clock.clock().now(), settings.alias()
    found = {
        run.id: Standing(
            endpoint=run.endpoint,
            state=reports.state(run, now),
            ended=False,
            moment=None if run.wake_at is None else to_moment(run.wake_at),
        )
        for run in Run.objects.using(alias).filter(id__in=identities).defer("request")
    }
    over = (
        EndedRun.objects.using(alias)
        .filter(id__in=set(identities) - set(found))
        .values_list("id", "endpoint", "outcome", "ended_at")
    )
    ended = {
        identity: Standing(endpoint=endpoint, state=outcome, ended=True, moment=to_moment(at))
        for identity, endpoint, outcome, at in over
    }
    return found | ended


def _by_key(endpoints: Sequence[str], key: str, *, every: bool) -> list[Run | EndedRun]:
    """At most a few runs of these workflows with a key, or with `every` of whichever: those on their way, else those
    that ended."""
    try:
        check_key(key)
    except InvalidInput:
        return []  # no run has it
    live = Run.objects.using(settings.alias()).filter(key=key)
    if not every:
        live = live.filter(endpoint__in=endpoints)
    started = [run_id(endpoint, key) for endpoint in endpoints]
    return [*live.order_by("-created_at")[:FEW]] or [*reports.over().filter(id__in=started)[:FEW]]


def _identity(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
