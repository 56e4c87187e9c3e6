"""Types of store.lifecycle, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from toa.typing import (
    ActingContext,
    Criteria,
    DecidingContext,
    Draft,
    Id,
    Item,
    Names,
    Query,
    ReadingContext,
)

EntrySTATE: TypeAlias = Literal[
    "failed",
    "draining",
    "discarded",
    "closed",
]


class Entry(Draft, Protocol):
    """The draft of a row: what differs at the end is what commits."""

    reference: str | None
    payment_deadline: int | None
    reminder: int | None
    reminders: int

    @property
    def id(self) -> str: ...

    @property
    def CREATED(self) -> int: ...

    @property
    def UPDATED(self) -> int: ...

    @property
    def DELETED(self) -> int | None: ...

    @property
    def VERSION(self) -> int: ...

    @property
    def TIMEOUT(self) -> int | None: ...

    @property
    def STATE(self) -> EntrySTATE | None: ...

    @property
    def HELD(self) -> int | None: ...

    @property
    def CLOCK(self) -> dict[str, Any] | None: ...


class State(Item, Protocol):
    """A row as it is read."""

    id: str
    reference: str | None
    payment_deadline: int | None
    reminder: int | None
    reminders: int
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int
    TIMEOUT: int | None
    STATE: EntrySTATE | None
    HELD: int | None
    CLOCK: dict[str, Any] | None


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    reference: str | None
    payment_deadline: int | None
    reminder: int | None
    reminders: int


class Configuration(Item, Protocol):
    """The component's configuration."""

    payment: str
    every: str


class BeginInput(Item, Protocol):
    """What begin gets."""

    reference: str


class BeginArguments(TypedDict):
    """What begin is given."""

    reference: str


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def observe(self, input: None = None, *, query: Query) -> State | None: ...
    def enumerate(self, input: None = None, *, query: Query) -> States: ...
    def assign(self, input: None = None, *, query: Query) -> None: ...
    def terminate(self, input: None = None, *, query: Query) -> None: ...
    def ensure(self, input: None = None, *, query: Query) -> State: ...
    def begin(self, input: BeginArguments, query: Query) -> Any: ...
    def settle(self, input: None = None, *, query: Query) -> Any: ...
    def finish(self, input: None = None, *, query: Query) -> Any: ...
    def lapse(self, input: None = None, *, query: Query) -> Any: ...
    def remind(self, input: None = None, *, query: Query) -> Any: ...
    def give_up(self, input: None = None, *, query: Query) -> Any: ...


class Operations(Protocol):
    """The operations of this component, as its model has them."""

    def observe(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> State | None: ...

    def enumerate(
        self,
        *,
        criteria: Criteria | None = None,
        ids: Sequence[Id] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        after: str | None = None,
        sort: Names | None = None,
        projection: Names | None = None,
        deleted: bool | None = None,
    ) -> States: ...

    def assign(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> None: ...

    def terminate(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> None: ...

    def ensure(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> State: ...

    def begin(
        self,
        id: str,
        *,
        reference: str,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def settle(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def finish(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def lapse(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def remind(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def give_up(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""
