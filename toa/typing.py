"""What operations are given, as protocols: the base of the `types.py` that `toa types` writes for each component.

They say to a type checker what drafts, inputs, replies and contexts have; nothing is an instance of them.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterator, KeysView, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar
from uuid import UUID

from django.db.models import Q

Id: TypeAlias = str | int | UUID
"""What an object is named by."""
Criteria: TypeAlias = str | Q
"""Which objects: text, or a Django `Q` over properties."""
Names: TypeAlias = str | Sequence[str]
"""Names of properties: a list, or one text with commas."""

Configuration_co = TypeVar("Configuration_co", covariant=True)
Local_co = TypeVar("Local_co", covariant=True)


class Item(Protocol):
    """Values by name: an input, a reply, a state. `item.total` and `item["total"]` are the same."""

    def __getitem__(self, name: str, /) -> Any: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...

    def __contains__(self, name: object, /) -> bool: ...

    def get(self, name: str, default: Any = None, /) -> Any: ...

    def keys(self) -> KeysView[str]: ...


class Draft(Item, Protocol):
    """The values of one row; what differs at the end is what commits."""

    def __setitem__(self, name: str, value: Any, /) -> None: ...


class Query(TypedDict, total=False):
    """Which objects a call is about."""

    id: Id
    ids: Sequence[Id]
    version: int | None
    criteria: Criteria | None
    limit: int | None
    offset: int | None
    after: str | None
    sort: Names | None
    projection: Names | None
    deleted: bool | None


class Request(TypedDict, total=False):
    """A call as it is stored: what to give the operation, and whom it is about."""

    input: Any
    query: Query | Mapping[str, Any] | None


class IntendedDelays(Protocol):
    """`context.delay` of a transition: what it asks for is done when the transition commits."""

    def __call__(
        self,
        endpoint: str,
        request: Request | Mapping[str, Any] | None = None,
        *,
        overdue: int | None,
        interval: int | str | None = None,
        at: int | None = None,
        key: str | None = None,
        unchained: bool = False,
    ) -> str: ...

    def cancel(self, identity: str) -> None: ...

    def move(self, identity: str, *, interval: int | str | None = None, at: int | None = None) -> None: ...


class StoredDelays(Protocol):
    """`context.delay` of an effect: what it asks for is done at once, and answered."""

    def __call__(
        self,
        endpoint: str,
        request: Request | Mapping[str, Any] | None = None,
        *,
        overdue: int | None,
        interval: int | str | None = None,
        at: int | None = None,
        key: str | None = None,
        unchained: bool = False,
    ) -> str: ...

    def cancel(self, identity: str) -> str: ...

    def move(self, identity: str, *, interval: int | str | None = None, at: int | None = None) -> str: ...


class HeldLock(Protocol):
    """A lock that an effect holds."""

    @property
    def key(self) -> str: ...

    @property
    def token(self) -> UUID: ...

    def check(self) -> None: ...


class SharedContext(Protocol[Configuration_co]):
    """What every operation may ask for, a workflow too. See `toa.runtime.context` for each member."""

    def after(self, duration: int | str) -> int: ...

    def id(self) -> str: ...

    @property
    def key(self) -> str: ...

    def key_for(self, name: str) -> str: ...

    @property
    def configuration(self) -> Configuration_co: ...

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]: ...


class BasicContext(SharedContext[Configuration_co], Protocol[Configuration_co]):
    """What every operation but a workflow may ask for."""

    def now(self) -> int: ...

    @property
    def due(self) -> int | None: ...


class DecidingContext(BasicContext[Configuration_co], Protocol[Configuration_co]):
    """Of a transition, an assignment or a computation, which call nothing."""

    @property
    def delay(self) -> IntendedDelays: ...

    def send(self, endpoint: str, request: Request | Mapping[str, Any] | None = None) -> str: ...

    def close(self) -> None: ...


class ReadingContext(BasicContext[Configuration_co], Protocol[Configuration_co, Local_co]):
    """Of an observation, which may call what reads."""

    def call(
        self,
        endpoint: str,
        input: Any = None,
        query: Query | Mapping[str, Any] | None = None,
        *,
        once: str | None = None,
    ) -> Any: ...

    @property
    def local(self) -> Local_co: ...

    @property
    def remote(self) -> Any: ...


class ActingContext(ReadingContext[Configuration_co, Local_co], Protocol[Configuration_co, Local_co]):
    """Of an effect, which may call and store calls."""

    @property
    def delay(self) -> StoredDelays: ...

    def send(self, endpoint: str, request: Request | Mapping[str, Any] | None = None) -> str: ...

    def lock(self, key: str, wait: int | str = 0) -> AbstractContextManager[HeldLock]: ...


class DurableContext(SharedContext[Configuration_co], Protocol[Configuration_co, Local_co]):
    """Of a workflow: calls are awaited. See `toa.workflow.context` for each member."""

    def now(self) -> Awaitable[int]: ...

    @property
    def due(self) -> int: ...

    def random(self) -> float: ...

    def call(
        self, endpoint: str, input: Any = None, query: Query | Mapping[str, Any] | None = None
    ) -> Awaitable[Any]: ...

    @property
    def local(self) -> Local_co: ...

    @property
    def remote(self) -> Any: ...
