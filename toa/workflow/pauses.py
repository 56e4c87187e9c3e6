"""Where the step loop stops: what somebody else has to do, to write or to wait for, and how a run ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from toa.workflow.asking import Calling


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing is to be done before `until` (epoch ms; null: before somebody else says so). `waits` is what the run is
    recognised by when it goes on."""

    until: int | None
    waits: dict[str, Any]
    error: str = ""
    """What the step under way ended in, where it is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perform:
    """An operation is to be called, under this key."""

    calling: Calling
    position: int
    key: str


@dataclass(frozen=True, slots=True)
class Write:
    """What was decided has to be durable before the function goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The function returned, or raised an Error; or its end was asked for, and it ended."""

    reply: Any
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The function raised. `step` is the position of the step that this goes back to, where it does."""

    error: BaseException
    step: int | None


Pause: TypeAlias = Wait | Perform | Write | Ended | Broken
