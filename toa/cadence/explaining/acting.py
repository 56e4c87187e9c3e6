"""The runs of workflows that acted on an object, as what is kept of it names them. Where they are, who keeps runs
tells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from toa.cadence.explaining.facts import SHOWN, Acting, Commit, Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run is."""

    endpoint: str
    state: str
    ended: bool
    moment: int | None


Stand = Callable[[Collection[UUID]], Mapping[UUID, Standing]]
"""Where some runs are, by their ids; those of which nothing is kept are left out."""

_STANDS: list[Stand] = []


def tell_of_runs(stand: Stand) -> None:
    """Have this asked where runs are."""
    _STANDS.append(stand)


def acting(commits: Iterable[Commit], lines: Iterable[Line]) -> tuple[Acting, ...]:
    """The runs among these commits and calls, which are newest first; the last to act first."""
    changed: dict[str, int | None] = {}
    for commit in commits:
        if commit.run:
            changed.setdefault(commit.run, commit.at)
    for line in lines:
        if line.started:
            changed.setdefault(line.started, None)
    shown = list(changed)[:SHOWN]
    standing: dict[UUID, Standing] = {}
    for stand in _STANDS if shown else ():
        standing |= stand([UUID(hex=one) for one in shown])
    return tuple(_acting(one, changed[one], standing.get(UUID(hex=one))) for one in shown)


def _acting(identity: str, changed: int | None, standing: Standing | None) -> Acting:
    if standing is None:
        return Acting(id=identity, changed=changed, endpoint="", state="gone", ended=True, moment=None)
    return Acting(
        id=identity,
        changed=changed,
        endpoint=standing.endpoint,
        state=standing.state,
        ended=standing.ended,
        moment=standing.moment,
    )
