"""The identity of one call, and what it intends beyond its own rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from toa.core.identity import digest, uuid7

CHAIN_LENGTH = 32
"""Hops after which a chain of calls is refused."""
CHAIN_REPEATS = 2
"""How often one endpoint may occur in a chain; the third entry is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right of one process to run a stored call, proved by a token that can be withdrawn."""

    table: str
    id: UUID
    token: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who calls, why, and under which key. The same for every attempt of one call."""

    endpoint: str
    """Empty for plain Python code outside operations."""
    key: str
    due: int | None = None
    """The moment it was planned for, epoch ms; null for a call that nobody planned."""
    base: int | None = None
    """What `after()` counts from, epoch ms; null: now."""
    caller: str = ""
    """Whose once keys these are: an endpoint, or what the adapter knows of its user."""
    chain: tuple[str, ...] = ()
    """Endpoints that led here, this one not included."""
    cause: dict[str, Any] | None = None
    lease: Lease | None = None
    mark: dict[str, Any] | None = None
    """Component and id of the process whose time-out this call follows from; see `Armed.mark`."""
    timeout: bool = False
    """This is the call of a time-out itself: what it sends carries the mark on, and nothing after that does."""

    def hops(self) -> tuple[str, ...]:
        """The chain as the next call will carry it."""
        return (*self.chain, self.endpoint) if self.endpoint else self.chain


def fresh(endpoint: str, *, caller: str = "", once: str | None = None) -> Call:
    """A call made by a person or by plain Python code. With a once key, its key is the same at a repetition."""
    key = uuid7().hex if once is None else digest(caller, endpoint, once)[:40]
    return Call(endpoint=endpoint, key=key, caller=caller)


def refuses_chain(chain: tuple[str, ...], endpoint: str) -> str | None:
    """Why a chain may not go on into the endpoint, or null. Observed when a call is armed and again when it fires."""
    if chain.count(endpoint) >= CHAIN_REPEATS:
        return f"the chain {' > '.join(chain)} would enter {endpoint} a third time"
    if len(chain) >= CHAIN_LENGTH:
        return f"the chain that ends in {' > '.join(chain[-3:])} is {len(chain)} calls long"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Armed:
    """A call to be stored: the intention of a delay or a send."""

    id: UUID
    endpoint: str
    request: dict[str, Any]
    due: int
    overdue: int | None = None
    name: str | None = None
    unchained: bool = False
    source: str = "delay"
    mark: dict[str, Any] | None = None
    """What a time-out's transition sends carries its process's mark: the process, closed by then, still takes the
    events that this causes."""


@dataclass(slots=True, kw_only=True)
class Intentions:
    """What a transition wants besides changing its rows. Written at its end, in its transaction, or not at all."""

    armed: list[Armed] = field(default_factory=list)
    cancelled: list[UUID] = field(default_factory=list)
    moved: dict[UUID, int] = field(default_factory=dict)
    """New moments in epoch ms."""
    closed: bool = False
    """The process is over."""

    def __bool__(self) -> bool:
        return bool(self.armed or self.cancelled or self.moved)
