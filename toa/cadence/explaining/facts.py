"""What is known about one object on the clock, as plain values: for sentences, pages and programs alike.

Moments are epoch ms; null stands for none.
"""

from __future__ import annotations

from dataclasses import dataclass

SHOWN = 20
"""How many rows of one kind are told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit of the object, from its history."""

    version: int
    at: int
    endpoint: str
    by: str
    """What called the operation: a user, a delay, a deadline, an event…"""
    changes: dict[str, list[int | None]]
    """Of the properties that hold moments: name -> [before, after]."""
    reached: str
    """The deadline that it was made for, or empty."""
    outside: bool
    """Whether the row was changed beside operations before it."""
    run: str
    """Id of the run whose step it was, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One property that holds a moment, and what is known of how it came to be."""

    property: str
    value: int | None
    transition: str | None
    """The transition that is due at it; null where the property is no deadline."""
    last: Commit | None
    """The last commit that changed it, as far back as the history was read."""
    outside: bool
    """Whether it has another value than that commit left: changed beside operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Nothing runs by itself for the object before this moment."""

    until: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A failure that waits for a person."""

    id: str
    source: str
    endpoint: str
    error: str
    attempts: int
    at: int
    property: str
    """The deadline that failed, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmade:
    """No code that runs here can make a stored call: it waits for code that has its operation, and fails in the end."""

    reason: str
    fails: int
    """When it becomes a failure, epoch ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnItsWay:
    """An event that is not delivered yet, to the object or from it."""

    id: str
    event: str
    endpoint: str
    incoming: bool
    happened: int
    wake: int | None
    """When it is looked at next; null while it is parked."""
    attempts: int
    error: str
    """What the last try ended in."""
    behind: str
    """What it waits behind, in words; empty where nothing holds it."""
    unmade: Unmade | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """A stored call that the object armed, or that is aimed at it."""

    id: str
    endpoint: str
    due: int
    wake: int | None
    attempts: int
    error: str
    """What the last try ended in."""
    running: bool
    own: bool
    """Whether the object armed it itself."""
    unmade: Unmade | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """A pulse or schedule of the component."""

    kind: str
    endpoint: str
    name: str
    criteria: str
    """Of a declared sweep; empty for one that selects in code."""
    declared: bool
    """Whether whom it calls is declared, so that `fits` is known."""
    fits: bool
    fits_from: int | None
    """When the object will fit as it stands, where it does not yet."""
    next: int | None
    """Its next boundary or occurrence; where `fits_from` is given, the first one from then on."""
    paused: int | None
    paused_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A settled call that concerned the object."""

    call: str
    source: str
    endpoint: str
    outcome: str
    code: str
    due: int
    at: int
    by: str
    """The endpoint that had it made, or empty."""
    started: str
    """Id of the run that it started, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """A run of a workflow that changed the object, or that a call told of here started."""

    id: str
    changed: int | None
    """Its last commit here, as far back as the history was read; null where it is known for being started alone."""
    endpoint: str
    """Empty where no record of it is kept any more."""
    state: str
    """As lists of runs have it; of one that ended, its outcome."""
    ended: bool
    moment: int | None
    """When it goes on; of one that ended, when it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alive:
    """How many processes renewed their heartbeat in the last seconds."""

    beats: int
    workers: int
    runners: int
    """`toa run`: beat and worker in one."""
    ticked: bool
    """Whether ticks came, whoever sent them: a scheduler other than ours has no heartbeat."""

    @property
    def anybody(self) -> bool:
        """Whether what comes due is done."""
        return bool(self.runners or (self.workers and (self.beats or self.ticked)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that decides why something will, did or did not happen to one object."""

    component: str
    id: str
    now: int
    found: bool
    version: int
    updated: int
    deleted: int | None
    timed: bool
    """Whether the component has deadlines."""
    state: str | None
    """Of a component with deadlines: null while it runs, else failed, draining, discarded or closed."""
    held: Held | None
    moments: tuple[Moment, ...]
    commits: tuple[Commit, ...]
    """The latest that changed a moment or reached a deadline, newest first."""
    stopped: tuple[Stopped, ...]
    deliveries: tuple[OnItsWay, ...]
    armed: tuple[Armed, ...]
    armed_cut: bool
    """Whether there may be more calls aimed at it than those that were looked through."""
    rhythms: tuple[Rhythm, ...]
    lines: tuple[Line, ...]
    runs: tuple[Acting, ...]
    """The last to act first."""
    related: tuple[str, ...]
    """Components that keep an object of the same id and listen to this one."""
    alive: Alive
