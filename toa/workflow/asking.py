"""What a workflow can wait for. Each await yields one of these to whoever drives the function, and gets its answer."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from toa.workflow.frames import Retry, Watch
    from toa.workflow.rhythms import Rhythm


class Asking:
    """One step of a workflow. `kind` and `name` are what a replay recognises it by."""

    __slots__ = ()
    kind: ClassVar[str]
    name: str = ""

    def __await__(self) -> Generator[Asking, Any, Any]:
        return (yield self)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


class Now(Asking):
    """The present moment."""

    __slots__ = ()
    kind = "now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep(Asking):
    """To go on at a moment, or some time from now; exactly one is given, in ms."""

    kind: ClassVar[str] = "sleep"
    until: int | None = None
    for_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calling(Asking):
    """The reply of an operation."""

    kind: ClassVar[str] = "call"
    name: str
    input: Any
    query: Mapping[str, Any] | None
    told: str
    """Input and query as text: what the key of the call is derived from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterDeadline(Asking):
    """To have what follows ended some time from now, in ms."""

    kind: ClassVar[str] = "deadline"
    for_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterRetry(Asking):
    """To do what follows again where it fails."""

    kind: ClassVar[str] = "retry"
    name: str
    attempts: int | None
    """Null: for ever."""
    first_ms: int
    factor: float
    cap_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOff(Asking):
    """To begin the next try."""

    kind: ClassVar[str] = "back-off"
    retry: Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterWatch(Asking):
    """To watch a rhythm from now on. Without a key the watch is known by its place."""

    kind: ClassVar[str] = "watch"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Occur(Asking):
    """The next occurrence of a watch."""

    kind: ClassVar[str] = "occurrence"
    watch: Watch
    rhythm: Rhythm
