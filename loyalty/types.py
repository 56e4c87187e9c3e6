"""Types of loyalty, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from decimal import Decimal
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, overload

from toa import Error
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

    points: int
    tier: Literal["basic", "silver", "gold"]
    month: str | None
    free: int
    email: str | None

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
    points: int
    tier: Literal["basic", "silver", "gold"]
    month: str | None
    free: int
    email: str | None
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    points: int
    tier: Literal["basic", "silver", "gold"]
    month: str | None
    free: int
    email: str | None


class Configuration(Item, Protocol):
    """The component's configuration."""

    free: int
    zone: str
    silver: int
    gold: int


class AllowanceOutputValue(TypedDict):
    """A mapping."""

    month: str
    free: int


AllowanceOutput: TypeAlias = AllowanceOutputValue | None


class AllowanceReplyValue(Item, Protocol):
    """A record."""

    month: str
    free: int


AllowanceReply: TypeAlias = AllowanceReplyValue | None


class DeliverOutput(TypedDict):
    """What deliver returns."""

    month: str
    free: int


class DeliverReply(Item, Protocol):
    """What deliver answers."""

    month: str
    free: int


class EarnInput(Item, Protocol):
    """What earn gets."""

    total: Decimal


class EarnArguments(TypedDict):
    """What earn is given."""

    total: Decimal | str


class JoinInput(Item, Protocol):
    """What join gets."""

    email: str


class JoinArguments(TypedDict):
    """What join is given."""

    email: str


class WelcomeInput(Item, Protocol):
    """What welcome gets."""

    customer: str


class WelcomeArguments(TypedDict):
    """What welcome is given."""

    customer: str


class WelcomeOutput(TypedDict):
    """What welcome returns."""

    sent: int
    ordered: bool


class WelcomeReply(Item, Protocol):
    """What welcome answers."""

    sent: int
    ordered: bool


class WriteInput(Item, Protocol):
    """What write gets."""

    customer: str
    letter: Literal["welcome", "deliveries", "points"]


class WriteArguments(TypedDict):
    """What write is given."""

    customer: str
    letter: Literal["welcome", "deliveries", "points"]


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def observe(self, input: None = None, *, query: Query) -> State | None: ...
    def enumerate(self, input: None = None, *, query: Query) -> States: ...
    def assign(self, input: None = None, *, query: Query) -> None: ...
    def terminate(self, input: None = None, *, query: Query) -> None: ...
    def ensure(self, input: None = None, *, query: Query) -> State: ...
    def allowance(self, input: None = None, *, query: Query) -> AllowanceReply: ...

    def deliver(
        self,
        input: None = None,
        *,
        query: Query,
        once: str | None = None,
    ) -> DeliverReply | Error: ...

    def earn(self, input: EarnArguments, query: Query) -> Any: ...
    def join(self, input: JoinArguments, query: Query) -> Any | Error: ...
    def write(self, input: WriteArguments) -> Any | Error: ...


class Steps(Protocol):
    """The same, as `context.local` of a workflow has them."""

    def observe(
        self,
        input: None = None,
        *,
        query: Query,
    ) -> Awaitable[State | None]: ...

    def enumerate(self, input: None = None, *, query: Query) -> Awaitable[States]: ...
    def assign(self, input: None = None, *, query: Query) -> Awaitable[None]: ...
    def terminate(self, input: None = None, *, query: Query) -> Awaitable[None]: ...
    def ensure(self, input: None = None, *, query: Query) -> Awaitable[State]: ...

    def allowance(
        self,
        input: None = None,
        *,
        query: Query,
    ) -> Awaitable[AllowanceReply]: ...

    def deliver(
        self,
        input: None = None,
        *,
        query: Query,
    ) -> Awaitable[DeliverReply | Error]: ...

    def earn(self, input: EarnArguments, query: Query) -> Awaitable[Any]: ...
    def join(self, input: JoinArguments, query: Query) -> Awaitable[Any | Error]: ...
    def write(self, input: WriteArguments) -> Awaitable[Any | Error]: ...


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

    def allowance(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> AllowanceReply: ...

    @overload
    def deliver(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        once: str | None = None,
        caller: str = "",
        check: Literal[True],
    ) -> DeliverReply: ...

    @overload
    def deliver(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        once: str | None = None,
        caller: str = "",
        check: bool = False,
    ) -> DeliverReply | Error: ...

    def earn(
        self,
        id: str,
        *,
        total: Decimal | str,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    @overload
    def join(
        self,
        id: str,
        *,
        email: str,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def join(
        self,
        id: str,
        *,
        email: str,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: bool = False,
    ) -> Any | Error: ...

    @overload
    def write(
        self,
        *,
        customer: str,
        letter: Literal["welcome", "deliveries", "points"],
        check: Literal[True],
    ) -> Any: ...

    @overload
    def write(
        self,
        *,
        customer: str,
        letter: Literal["welcome", "deliveries", "points"],
        check: bool = False,
    ) -> Any | Error: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""


class WorkflowContext(DurableContext[Configuration, Steps], Protocol):
    """Of a workflow."""
