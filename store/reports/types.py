"""Types of store.reports, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from decimal import Decimal
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, overload

from toa.typing import (
    ActingContext,
    Criteria,
    DecidingContext,
    Draft,
    DurableContext,
    Id,
    Item,
    Names,
    Query,
    ReadingContext,
)


class Entry(Draft, Protocol):
    """The draft of a row: what differs at the end is what commits."""

    begins: int | None
    ends: int | None
    placed: int
    cancelled: int
    total: Decimal

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
    begins: int | None
    ends: int | None
    placed: int
    cancelled: int
    total: Decimal
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    begins: int | None
    ends: int | None
    placed: int
    cancelled: int
    total: Decimal


class Configuration(Item, Protocol):
    """The component's configuration."""

    morning: str


class AssignInput(Item, Protocol):
    """What assign gets."""

    begins: int
    ends: int
    placed: int
    cancelled: int
    total: Decimal


class AssignArguments(TypedDict):
    """What assign is given."""

    begins: int
    ends: int
    placed: int
    cancelled: int
    total: Decimal | str


class WeeklyInput(Item, Protocol):
    """What weekly gets."""

    at: int


class WeeklyArguments(TypedDict):
    """What weekly is given."""

    at: int


class DailyInput(Item, Protocol):
    """What daily gets."""

    @overload
    def get(self, name: Literal["n"], /) -> int | None: ...

    @overload
    def get(self, name: Literal["i"], /) -> int | None: ...

    @overload
    def get(self, name: str, default: Any = None, /) -> Any: ...


class DailyArguments(TypedDict):
    """What daily is given."""

    n: NotRequired[int]
    i: NotRequired[int]


class DayInput(Item, Protocol):
    """What day gets."""

    at: int


class DayArguments(TypedDict):
    """What day is given."""

    at: int


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def observe(self, input: None = None, *, query: Query) -> State | None: ...
    def enumerate(self, input: None = None, *, query: Query) -> States: ...
    def assign(self, input: AssignArguments, query: Query) -> None: ...
    def terminate(self, input: None = None, *, query: Query) -> None: ...
    def ensure(self, input: None = None, *, query: Query) -> State: ...
    def weekly(self, input: WeeklyArguments) -> Any: ...
    def day(self, input: DayArguments) -> Any: ...


class Steps(Protocol):
    """The same, as `context.local` of a workflow has them."""

    def observe(
        self,
        input: None = None,
        *,
        query: Query,
    ) -> Awaitable[State | None]: ...

    def enumerate(self, input: None = None, *, query: Query) -> Awaitable[States]: ...
    def assign(self, input: AssignArguments, query: Query) -> Awaitable[None]: ...
    def terminate(self, input: None = None, *, query: Query) -> Awaitable[None]: ...
    def ensure(self, input: None = None, *, query: Query) -> Awaitable[State]: ...
    def weekly(self, input: WeeklyArguments) -> Awaitable[Any]: ...
    def day(self, input: DayArguments) -> Awaitable[Any]: ...


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
        begins: int,
        ends: int,
        placed: int,
        cancelled: int,
        total: Decimal | str,
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

    def weekly(self, *, at: int) -> Any: ...
    def day(self, *, at: int) -> Any: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""


class WorkflowContext(DurableContext[Configuration, Steps], Protocol):
    """Of a workflow."""
