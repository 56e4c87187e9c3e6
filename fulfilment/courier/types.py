"""Types of fulfilment.courier, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, overload

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


class Entry(Draft, Protocol):
    """The draft of a row: what differs at the end is what commits."""

    wanted: int | None
    reference: str | None

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


class State(Item, Protocol):
    """A row as it is read."""

    id: str
    wanted: int | None
    reference: str | None
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    wanted: int | None
    reference: str | None


class Configuration(Item, Protocol):
    """The component's configuration."""

    address: str
    token: str
    connect: str
    read: str
    whole: str
    largest: int


class BookInput(Item, Protocol):
    """What book gets."""

    @overload
    def get(self, name: Literal["n"], /) -> int | None: ...

    @overload
    def get(self, name: Literal["i"], /) -> int | None: ...

    @overload
    def get(self, name: str, default: Any = None, /) -> Any: ...


class BookArguments(TypedDict):
    """What book is given."""

    n: NotRequired[int]
    i: NotRequired[int]


class RecordInput(Item, Protocol):
    """What record gets."""

    reference: str


class RecordArguments(TypedDict):
    """What record is given."""

    reference: str


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def observe(self, input: None = None, *, query: Query) -> State | None: ...
    def enumerate(self, input: None = None, *, query: Query) -> States: ...
    def assign(self, input: None = None, *, query: Query) -> None: ...
    def terminate(self, input: None = None, *, query: Query) -> None: ...
    def ensure(self, input: None = None, *, query: Query) -> State: ...
    def want(self, input: None = None, *, query: Query) -> Any: ...
    def book(self, input: BookArguments) -> Any: ...
    def record(self, input: RecordArguments, query: Query) -> Any: ...


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

    def want(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def book(self, *, n: int = ..., i: int = ...) -> Any: ...

    def record(
        self,
        id: str,
        *,
        reference: str,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""
