"""Types of store.orders, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, overload

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

EntryStatus: TypeAlias = Literal[
    "pending",
    "approved",
    "packed",
    "cancelled",
]


class Entry(Draft, Protocol):
    """The draft of a row: what differs at the end is what commits."""

    reference: str
    customer: str
    product: str
    quantity: int
    total: Decimal
    status: EntryStatus
    pay_by: int | None
    alarm: str | None
    reason: str | None
    escalated: int | None

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
    reference: str
    customer: str
    product: str
    quantity: int
    total: Decimal
    status: EntryStatus
    pay_by: int | None
    alarm: str | None
    reason: str | None
    escalated: int | None
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    reference: str
    customer: str
    product: str
    quantity: int
    total: Decimal
    status: EntryStatus
    pay_by: int | None
    alarm: str | None
    reason: str | None
    escalated: int | None


class Configuration(Item, Protocol):
    """The component's configuration."""

    limit: float
    window: str
    expiry: Literal["sweep", "alarm", "process"]
    picking: Literal["by_hand", "warehouse"]
    silence: str
    patience: str


class CreateInput(Item, Protocol):
    """What create gets."""

    reference: str
    customer: str
    product: str
    quantity: int
    total: Decimal


class CreateArguments(TypedDict):
    """What create is given."""

    reference: str
    customer: str
    product: str
    quantity: int
    total: Decimal | str


class CancelInput(Item, Protocol):
    """What cancel gets."""

    reason: str


class CancelArguments(TypedDict):
    """What cancel is given."""

    reason: str


class HandOverInput(Item, Protocol):
    """What hand_over gets."""

    order: str


class HandOverArguments(TypedDict):
    """What hand_over is given."""

    order: str


class InquireInput(Item, Protocol):
    """What inquire gets."""

    order: str


class InquireArguments(TypedDict):
    """What inquire is given."""

    order: str


class ReviveInput(Item, Protocol):
    """What revive gets."""

    @overload
    def get(self, name: Literal["n"], /) -> int | None: ...

    @overload
    def get(self, name: Literal["i"], /) -> int | None: ...

    @overload
    def get(self, name: str, default: Any = None, /) -> Any: ...


class ReviveArguments(TypedDict):
    """What revive is given."""

    n: NotRequired[int]
    i: NotRequired[int]


class ExpireInput(Item, Protocol):
    """What expire gets."""

    @overload
    def get(self, name: Literal["n"], /) -> int | None: ...

    @overload
    def get(self, name: Literal["i"], /) -> int | None: ...

    @overload
    def get(self, name: str, default: Any = None, /) -> Any: ...


class ExpireArguments(TypedDict):
    """What expire is given."""

    n: NotRequired[int]
    i: NotRequired[int]


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def observe(self, input: None = None, *, query: Query) -> State | None: ...
    def enumerate(self, input: None = None, *, query: Query) -> States: ...
    def assign(self, input: None = None, *, query: Query) -> None: ...
    def terminate(self, input: None = None, *, query: Query) -> None: ...
    def ensure(self, input: None = None, *, query: Query) -> State: ...

    def create(
        self,
        input: CreateArguments,
        *,
        once: str | None = None,
    ) -> Any | Error: ...

    def approve(self, input: None = None, *, query: Query) -> Any | Error: ...
    def cancel(self, input: CancelArguments, query: Query) -> Any | Error: ...
    def pack(self, input: None = None, *, query: Query) -> Any | Error: ...
    def hand_over(self, input: HandOverArguments) -> Any | Error: ...
    def inquire(self, input: InquireArguments) -> Any | Error: ...
    def escalate(self, input: None = None, *, query: Query) -> Any | Error: ...
    def revive(self, input: ReviveArguments) -> Any: ...
    def expire(self, input: ExpireArguments) -> Any: ...


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

    @overload
    def create(
        self,
        *,
        reference: str,
        customer: str,
        product: str,
        quantity: int,
        total: Decimal | str,
        once: str | None = None,
        caller: str = "",
        check: Literal[True],
    ) -> Any: ...

    @overload
    def create(
        self,
        *,
        reference: str,
        customer: str,
        product: str,
        quantity: int,
        total: Decimal | str,
        once: str | None = None,
        caller: str = "",
        check: bool = False,
    ) -> Any | Error: ...

    @overload
    def approve(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def approve(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: bool = False,
    ) -> Any | Error: ...

    @overload
    def cancel(
        self,
        id: str,
        *,
        reason: str,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def cancel(
        self,
        id: str,
        *,
        reason: str,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: bool = False,
    ) -> Any | Error: ...

    @overload
    def pack(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def pack(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: bool = False,
    ) -> Any | Error: ...

    @overload
    def hand_over(self, *, order: str, check: Literal[True]) -> Any: ...

    @overload
    def hand_over(self, *, order: str, check: bool = False) -> Any | Error: ...

    @overload
    def inquire(self, *, order: str, check: Literal[True]) -> Any: ...

    @overload
    def inquire(self, *, order: str, check: bool = False) -> Any | Error: ...

    @overload
    def escalate(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def escalate(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: bool = False,
    ) -> Any | Error: ...

    def revive(self, *, n: int = ..., i: int = ...) -> Any: ...
    def expire(self, *, n: int = ..., i: int = ...) -> Any: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""
