"""Everything toa raises on purpose.

::

    ToaError
    |- InvalidManifest          a manifest does not hold; carries its problems
    |- InvalidConfiguration     values for a component's configuration do not fit its manifest
    |- UnknownEndpoint          no operation of that name
    |- CallError                the caller's mistake or a state the caller must handle
    |  |- InvalidInput          the input (or a delay's request) does not fit its schema
    |  |- InvalidQuery          the query or its criteria do not hold
    |  |- NotFound              no such object, or a tombstone
    |  |- PreconditionFailed    the object has another VERSION
    |  |- Conflict              a unique rule, or a race that was not retried
    |  |- OnceMismatch          a once key was used before with another request
    |  |- NotAllowedHere        a call where the context allows none
    |  `- Refused               an Error reply, raised where `check=True` asked for it
    |- OperationFault           the operation broke its own declaration: a bug
    |- Transient                worth another try
    |  |- Busy                  a row is held by somebody else
    |  |- LeaseLost             the lease of the calling effect is gone
    |  |- LockTaken             another call holds the lock, and went on holding it
    |  `- LockLost              the lock lapsed while it was held
    |- OutcomeUnknown           the connection was lost during COMMIT
    |- Nondeterministic         a workflow takes another path than its journal: a bug, or a change it cannot take
    |- StepFailed               a step of a workflow raised what this code cannot make again
    |- DeadlineExceeded         what a workflow gave a deadline to took longer
    `- InvalidDuration, InvalidSchedule, InvalidZone, InvalidMoment, InvalidPeriod

    Cancelled                   thrown into a workflow whose end was asked for; no `except Exception` stops it
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ToaError(Exception):
    """Root of everything toa raises on purpose. `hint` says what to do about it."""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class InvalidDuration(ToaError, ValueError):
    """A duration that cannot be read or is out of bounds."""


class InvalidSchedule(ToaError, ValueError):
    """A cron expression that cannot be read or never comes due."""


class InvalidZone(ToaError, ValueError):
    """A time zone that is not in the tz database."""


class InvalidMoment(ToaError, ValueError):
    """A moment that is no whole number of epoch milliseconds, or is outside the calendar."""


class InvalidPeriod(ToaError, ValueError):
    """A kind of period that does not exist."""


class InvalidManifest(ToaError):
    """A manifest does not hold. `problems` are all of them, each with its place."""

    def __init__(self, message: str, *, problems: Sequence[Any] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class InvalidConfiguration(ToaError):
    """Values for a component's configuration do not fit its manifest.

    `problems` are pairs: where the value was given (a setting, an environment variable), and the message.
    """

    def __init__(self, message: str, *, problems: Sequence[tuple[str, str]] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class UnknownEndpoint(ToaError, LookupError):
    """No installed component has an operation of that name."""


class CallError(ToaError):
    """The caller's mistake, or a state the caller must handle. Nothing was written."""


class InvalidInput(CallError, ValueError):
    """The input does not fit its schema. `problems` are pairs of JSON pointer and message."""

    def __init__(self, message: str, *, problems: Sequence[tuple[str, str]] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class InvalidQuery(CallError, ValueError):
    """The query does not hold. `position` is the offset in the criteria's text, where there is one."""

    def __init__(self, message: str, *, position: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.position = position


class NotFound(CallError, LookupError):
    """No object answers the query, or it was terminated."""


class PreconditionFailed(CallError):
    """The object has another VERSION than the query asked for."""


class Conflict(CallError):
    """A unique rule is broken, or a concurrent change won and the operation does not retry."""


class OnceMismatch(CallError):
    """The once key was used before, with another request."""


class NotAllowedHere(CallError):
    """This context does not allow the call: a transition calls nothing, an effect opens no transaction around it."""


class Refused(CallError):
    """An operation replied with an Error and the caller asked for an exception (`check=True`)."""

    def __init__(self, code: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(f"refused: {code}")
        self.code = code
        self.details = details or {}


class OperationFault(ToaError):
    """An operation broke its own declaration: an undeclared code, an output or a row that does not fit. A bug."""


class Transient(ToaError):
    """Worth another try: raise it in an effect to have the call come again with back-off."""


class Busy(Transient):
    """A row is held by somebody else, and this call does not wait for it."""


class LeaseLost(Transient):
    """The lease of the calling effect lapsed or was withdrawn; what it asked for was rolled back."""


class LockTaken(Transient):
    """Another call holds the lock, and held it for longer than this one waits."""


class LockLost(Transient):
    """The lock lapsed while it was held: another call may have held it meanwhile."""


class OutcomeUnknown(ToaError):
    """The connection was lost during COMMIT: the call may or may not have taken effect."""


class Nondeterministic(ToaError):
    """A workflow takes another path than its journal says it took. Names the step of each."""


class StepFailed(ToaError):
    """A step of a workflow raised an exception that cannot be made again from its journal. `kind` is its type."""

    def __init__(self, message: str = "", *, kind: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class DeadlineExceeded(ToaError, TimeoutError):
    """What stood under `time.with_deadline` in a workflow was not over in time."""


class Cancelled(BaseException):
    """Somebody asked for the end of a run. Thrown where it waits: its `finally` blocks run, awaits in them included."""
