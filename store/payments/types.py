"""Types of store.payments, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, overload

from toa import Error
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

    amount: Decimal | None
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
    amount: Decimal | None
    reference: str | None
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    amount: Decimal | None
    reference: str | None


class Configuration(Item, Protocol):
    """The component's configuration."""

    address: str
    token: str
    connect: str
    read: str
    whole: str
    largest: int


class OweInput(Item, Protocol):
    """What owe gets."""

    amount: Decimal


class OweArguments(TypedDict):
    """What owe is given."""

    amount: Decimal | str


class RefundInput(Item, Protocol):
    """What refund gets."""

    order: str


class RefundArguments(TypedDict):
    """What refund is given."""

    order: str


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
    def owe(self, input: OweArguments, query: Query) -> Any: ...
    def refund(self, input: RefundArguments) -> Any | Error: ...
    def record(self, input: RecordArguments, query: Query) -> Any | Error: ...


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

    def owe(
        self,
        id: str,
        *,
        amount: Decimal | str,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    @overload
    def refund(self, *, order: str, check: Literal[True]) -> Any: ...

    @overload
    def refund(self, *, order: str, check: bool = False) -> Any | Error: ...

    @overload
    def record(
        self,
        id: str,
        *,
        reference: str,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def record(
        self,
        id: str,
        *,
        reference: str,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: bool = False,
    ) -> Any | Error: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""
