"""Types of store.vouchers, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
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

    discount: int
    left: int
    expires: int

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
    discount: int
    left: int
    expires: int
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    discount: int
    left: int
    expires: int


class Configuration(Item, Protocol):
    """The component's configuration."""


class CreateInput(Item, Protocol):
    """What create gets."""

    discount: int
    left: int
    expires: int


class CreateArguments(TypedDict):
    """What create is given."""

    discount: int
    left: int
    expires: int


class CreateOutput(TypedDict):
    """What create returns."""

    id: str


class CreateReply(Item, Protocol):
    """What create answers."""

    id: str


class RedeemOutput(TypedDict):
    """What redeem returns."""

    discount: int


class RedeemReply(Item, Protocol):
    """What redeem answers."""

    discount: int


class ExtendInput(Item, Protocol):
    """What extend gets."""

    expires: int


class ExtendArguments(TypedDict):
    """What extend is given."""

    expires: int


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
    ) -> CreateReply: ...

    def redeem(
        self,
        input: None = None,
        *,
        query: Query,
        once: str | None = None,
    ) -> RedeemReply | Error: ...

    def extend(self, input: ExtendArguments, query: Query) -> Any | Error: ...


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

    def create(
        self,
        *,
        discount: int,
        left: int,
        expires: int,
        once: str | None = None,
        caller: str = "",
    ) -> CreateReply: ...

    @overload
    def redeem(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        once: str | None = None,
        caller: str = "",
        check: Literal[True],
    ) -> RedeemReply: ...

    @overload
    def redeem(
        self,
        id: str,
        *,
        version: int | None = None,
        criteria: Criteria | None = None,
        once: str | None = None,
        caller: str = "",
        check: bool = False,
    ) -> RedeemReply | Error: ...

    @overload
    def extend(
        self,
        id: str,
        *,
        expires: int,
        version: int | None = None,
        criteria: Criteria | None = None,
        check: Literal[True],
    ) -> Any: ...

    @overload
    def extend(
        self,
        id: str,
        *,
        expires: int,
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
