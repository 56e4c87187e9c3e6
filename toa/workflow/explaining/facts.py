"""What is known about one run, as plain values: for sentences, pages and programs alike.

Moments are epoch ms; null stands for none.
"""

from __future__ import annotations

from dataclasses import dataclass

from toa.cadence.explaining.facts import Alive, Line, Stopped, Unmade
from toa.workflow.journals import Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The step that a run waits for."""

    position: int
    kind: str
    name: str
    until: int | None
    """When it is over by itself; null where no moment says so."""
    note: str
    """Of a back-off: how often it failed in a row, and at last why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The call of the effect that a run waits for."""

    id: str
    endpoint: str
    wake: int | None
    """When it is looked at next; while it runs, when its lease ends."""
    attempts: int
    strikes: int
    error: str
    """What the last try ended in."""
    running: bool
    unmade: Unmade | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Somebody asked for the end of a run."""

    by: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """A pulse or schedule that starts runs of the workflow, and is paused."""

    kind: str
    name: str
    since: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A watch of a run."""

    name: str
    """Its key; empty for the first one without."""
    cursor: int
    """Up to which moment it is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """All that decides where one run is."""

    id: str
    endpoint: str
    key: str
    now: int
    state: str
    """due, sleeping, waiting, cancelling or failed; of one that ended made, refused, failed or cancelled."""
    by: str
    """What started it."""
    planned: int
    started: int
    ended: int | None
    result: str
    """Of one that ended: why it failed, the code of an Error, who cancelled it; else empty."""
    begun: bool
    since: int
    """Since when it is where it is."""
    wakes: int | None
    """When it is looked at next; null where something else has to happen first."""
    waits: Awaited | None
    effect: Effect | None
    attempts: int
    """Tries of the step under way."""
    error: str
    """What the last of them ended in."""
    strikes: int
    """How often it took its process with it, or its time, since its last step."""
    hands: tuple[str, ...]
    """Processes that said they had it in hand, and did not take it back: host and number."""
    cancel: Asked | None
    failure: Stopped | None
    step: int | None
    """The step that a retry of the failure goes back to; null for the end of the journal."""
    unmade: Unmade | None
    watches: tuple[Followed, ...]
    paused: tuple[Rests, ...]
    done: int
    """Steps of its journal."""
    steps: tuple[Sketch, ...]
    """The last of them, in order."""
    lines: tuple[Line, ...]
    """The last calls that were settled for it, newest first."""
    alive: Alive
