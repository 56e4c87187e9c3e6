"""Types of fulfilment.stock, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
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


class Entry(Draft, Protocol):
    """The draft of a row: what differs at the end is what commits."""

    available: int
    reserved: dict[str, int]

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
    available: int
    reserved: dict[str, int]
    CREATED: int
    UPDATED: int
    DELETED: int | None
    VERSION: int


States: TypeAlias = list[State]


class Changeset(TypedDict, total=False):
    """What an assignment writes."""

    available: int
    reserved: dict[str, int]


class Configuration(Item, Protocol):
    """The component's configuration."""

    grace: str
    page: int
    budget: str


class AssignInput(Item, Protocol):
    """What assign gets."""

    available: int


class AssignArguments(TypedDict):
    """What assign is given."""

    available: int


class RestockInput(Item, Protocol):
    """What restock gets."""

    quantity: int


class RestockArguments(TypedDict):
    """What restock is given."""

    quantity: int


class ReserveInput(Item, Protocol):
    """What reserve gets."""

    order: str
    quantity: int


class ReserveArguments(TypedDict):
    """What reserve is given."""

    order: str
    quantity: int


class ReleaseInput(Item, Protocol):
    """What release gets."""

    order: str


class ReleaseArguments(TypedDict):
    """What release is given."""

    order: str


class ForgetInput(Item, Protocol):
    """What forget gets."""

    order: str


class ForgetArguments(TypedDict):
    """What forget is given."""

    order: str


class SyncInput(Item, Protocol):
    """What sync gets."""

    @overload
    def get(self, name: Literal["n"], /) -> int | None: ...

    @overload
    def get(self, name: Literal["i"], /) -> int | None: ...

    @overload
    def get(self, name: str, default: Any = None, /) -> Any: ...


class SyncArguments(TypedDict):
    """What sync is given."""

    n: NotRequired[int]
    i: NotRequired[int]


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def observe(self, input: None = None, *, query: Query) -> State | None: ...
    def enumerate(self, input: None = None, *, query: Query) -> States: ...
    def assign(self, input: AssignArguments, query: Query) -> None: ...
    def terminate(self, input: None = None, *, query: Query) -> None: ...
    def ensure(self, input: None = None, *, query: Query) -> State: ...
    def restock(self, input: RestockArguments, query: Query) -> Any: ...
    def reserve(self, input: ReserveArguments, query: Query) -> Any: ...
    def release(self, input: ReleaseArguments, query: Query) -> Any: ...
    def forget(self, input: ForgetArguments, query: Query) -> Any: ...
    def sync(self, input: SyncArguments) -> Any | Error: ...


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
        available: int,
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

    def restock(
        self,
        id: str,
        *,
        quantity: int,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def reserve(
        self,
        id: str,
        *,
        order: str,
        quantity: int,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def release(
        self,
        id: str,
        *,
        order: str,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    def forget(
        self,
        id: str,
        *,
        order: str,
        version: int | None = None,
        criteria: Criteria | None = None,
    ) -> Any: ...

    @overload
    def sync(self, *, n: int = ..., i: int = ..., check: Literal[True]) -> Any: ...

    @overload
    def sync(
        self,
        *,
        n: int = ...,
        i: int = ...,
        check: bool = False,
    ) -> Any | Error: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""
