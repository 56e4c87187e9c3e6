"""The context an operation is given: time, keys, configuration, and what its type allows it to ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NoReturn
from uuid import UUID

from toa.core.calling import Call, Intentions
from toa.core.duration import parse_duration
from toa.core.identity import digest, uuid7
from toa.core.record import Record
from toa.exceptions import InvalidInput, NotAllowedHere
from toa.runtime import arming, clock
from toa.runtime.bindings import Operation
from toa.runtime.locking import Held, locked

Invoke = Callable[..., Any]
"""`(endpoint, input, query, once) -> reply`, on behalf of a call."""


class Context:
    """What every operation may ask for, whatever its type."""

    def __init__(self, operation: Operation, call: Call) -> None:
        self._operation = operation
        self._call = call
        self._last = call.due or 0

    def now(self) -> int:
        """The moment in epoch ms, by the database's clock. Never earlier than a reading before, nor than `due`."""
        self._last = max(self._last, clock.clock().now())
        return self._last

    @property
    def due(self) -> int | None:
        """The moment in epoch ms that this call was planned for; null for a call that nobody planned."""
        return self._call.due

    def after(self, duration: int | str) -> int:
        """A moment (epoch ms) counted from what triggered this call: an event's time, a moment that came due, or now.

        `duration` is ms or text ("24h").
        """
        base = self._call.base
        return (self.now() if base is None else base) + parse_duration(duration)

    def id(self) -> str:
        """A new UUIDv7 as 32 hex digits."""
        return uuid7().hex

    @property
    def key(self) -> str:
        """The stable key of this call: the same at every attempt. For the idempotency keys of outside systems."""
        return self._call.key

    def key_for(self, name: str) -> str:
        """A stable key derived from this call's, for one of several things it does outside."""
        return digest(self._call.key, name)[:40]

    @property
    def configuration(self) -> Record:
        """The component's validated configuration."""
        return self._operation.component.configuration

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger bound to endpoint and call."""
        return logging.LoggerAdapter(
            logging.getLogger(f"toa.operations.{self._operation.endpoint}"),
            {"endpoint": self._operation.endpoint, "call": self._call.key},
        )


class Delays:
    """`context.delay(…)`, `.cancel(id)`, `.move(id, …)`: intentions of a transition, written at its end."""

    def __init__(self, context: TransitionContext) -> None:
        self._context = context

    def __call__(
        self,
        endpoint: str,
        request: Mapping[str, Any] | None = None,
        *,
        overdue: int | None,
        interval: int | str | None = None,
        at: int | None = None,
        key: str | None = None,
        unchained: bool = False,
    ) -> str:
        """Have an endpoint called later; returns the delay's id. See `toa.runtime.arming.armed` for the units."""
        context = self._context
        one = arming.armed(
            context._call,
            context.now(),
            endpoint,
            request,
            interval=interval,
            at=at,
            overdue=overdue,
            key=key,
            unchained=unchained,
        )
        context._intentions.armed.append(one)
        return one.id.hex

    def cancel(self, identity: str) -> None:
        """Take a delay back when this transition commits, if it has not begun by then."""
        self._context._intentions.cancelled.append(delay_id(identity))

    def move(self, identity: str, *, interval: int | str | None = None, at: int | None = None) -> None:
        """Give a delay another moment when this transition commits, if it has not begun by then."""
        moment = arming.due_moment(self._context.now(), interval, at)
        self._context._intentions.moved[delay_id(identity)] = moment


class TransitionContext(Context):
    """A transition or a computation decides and calls nothing; a transition may store calls to be made."""

    def __init__(self, operation: Operation, call: Call) -> None:
        super().__init__(operation, call)
        self._intentions = Intentions()

    @property
    def delay(self) -> Delays:
        """Store a call to be made later."""
        return Delays(self)

    def send(self, endpoint: str, request: Mapping[str, Any] | None = None) -> str:
        """Store a call that is due at once, in this transition's transaction; returns its id."""
        one = arming.armed(self._call, self.now(), endpoint, request, interval=0, source="send")
        self._intentions.armed.append(one)
        return one.id.hex

    def close(self) -> None:
        """The process is over: no deadline, time-out or delivery of this object comes after this commit."""
        if "STATE" not in self._operation.component.table.properties:
            raise NotAllowedHere(f"{self._operation.component.locator} has no deadlines, and so nothing to close")
        self._intentions.closed = True

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotAllowedHere(
            f"{self._operation.endpoint} is a {self._operation.spec.type.value}: it calls nothing",
            hint="have the call made after the commit by context.send, or write an effect",
        )

    call = _refuse
    lock = _refuse

    @property
    def local(self) -> Any:
        self._refuse()

    @property
    def remote(self) -> Any:
        self._refuse()


class CallingContext(Context):
    """Effects and observations call other operations; each call commits on its own."""

    def __init__(self, operation: Operation, call: Call, invoke: Invoke) -> None:
        super().__init__(operation, call)
        self._invoke = invoke

    def call(
        self, endpoint: str, input: Any = None, query: Mapping[str, Any] | None = None, *, once: str | None = None
    ) -> Any:
        """Call an operation by its endpoint; an Error it replies with is returned."""
        return self._invoke(endpoint, input, query, once)

    @property
    def local(self) -> Remote:
        """The operations of this component: `context.local.cancel(query={"id": …})`."""
        return Remote(self, (self._operation.component.locator,))

    @property
    def remote(self) -> Remote:
        """Any component: `context.remote.fulfilment.stock.observe(query={"id": …})`."""
        return Remote(self, ())


class EffectContext(CallingContext):
    """An effect may also store calls; each is committed at once."""

    def __init__(self, operation: Operation, call: Call, invoke: Invoke, delays: Callable[[Call], Any]) -> None:
        super().__init__(operation, call, invoke)
        self._delays = delays(call)

    @property
    def delay(self) -> Any:
        """Store a call to be made later, cancel or move one; see `toa.delay`."""
        return self._delays

    def send(self, endpoint: str, request: Mapping[str, Any] | None = None) -> str:
        """Store a call that is due at once; returns its id."""
        identity: str = self._delays.send(endpoint, request)
        return identity

    def lock(self, key: str, wait: int | str = 0) -> AbstractContextManager[Held]:
        """Hold a key of this component across all replicas: `with context.lock("courier", wait="5s"):`.

        For what is created in an outside system, never around entities. `wait` is ms or text; by default it does not
        wait. See `toa.runtime.locking.locked` for what it raises.
        """
        return locked(self._operation, self._call, key, wait)


class Remote:
    """A path of names that ends in a call: `remote.<namespace>.<component>.<operation>(…)`."""

    def __init__(self, context: CallingContext, path: tuple[str, ...]) -> None:
        self._context = context
        self._path = path

    def __getattr__(self, name: str) -> Remote:
        return Remote(self._context, (*self._path, name))

    def __call__(self, input: Any = None, query: Mapping[str, Any] | None = None, *, once: str | None = None) -> Any:
        return self._context.call(".".join(self._path), input, query, once=once)


def delay_id(identity: Any) -> UUID:
    """The id of a delay from its text; raises InvalidInput."""
    try:
        return UUID(identity)
    except (ValueError, TypeError, AttributeError):
        raise InvalidInput(
            f"{identity!r} is no id of a delay", hint="32 hex digits, as context.delay returned it"
        ) from None
