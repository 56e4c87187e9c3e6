"""Types of fulfilment.warehouse, written by `toa types`: change the manifest, not this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, Protocol, TypedDict, overload

from toa import Error
from toa.typing import ActingContext, DecidingContext, Item, ReadingContext


class Configuration(Item, Protocol):
    """The component's configuration."""

    address: str
    token: str
    connect: str
    read: str
    whole: str
    largest: int


class InventoryInput(Item, Protocol):
    """What inventory gets."""

    after: str
    limit: int


class InventoryArguments(TypedDict):
    """What inventory is given."""

    after: NotRequired[str]
    limit: NotRequired[int]


class InventoryOutputItemsItem(TypedDict):
    """A mapping."""

    product: str
    available: int


class InventoryOutput(TypedDict):
    """What inventory returns."""

    items: Sequence[InventoryOutputItemsItem]
    next: str | None


class InventoryReplyItemsItem(Item, Protocol):
    """A record."""

    product: str
    available: int


class InventoryReply(Item, Protocol):
    """What inventory answers."""

    next: str | None


class StatusInput(Item, Protocol):
    """What status gets."""

    order: str


class StatusArguments(TypedDict):
    """What status is given."""

    order: str


class StatusOutput(TypedDict):
    """What status returns."""

    order: str
    status: Literal["unknown", "queued", "picked"]


class StatusReply(Item, Protocol):
    """What status answers."""

    order: str
    status: Literal["unknown", "queued", "picked"]


class PickInput(Item, Protocol):
    """What pick gets."""

    order: str
    product: str
    quantity: int


class PickArguments(TypedDict):
    """What pick is given."""

    order: str
    product: str
    quantity: int


class PickOutput(TypedDict):
    """What pick returns."""

    order: str
    status: Literal["queued", "picked"]


class PickReply(Item, Protocol):
    """What pick answers."""

    order: str
    status: Literal["queued", "picked"]


class WarmInput(Item, Protocol):
    """What warm gets."""

    @overload
    def get(self, name: Literal["n"], /) -> int | None: ...

    @overload
    def get(self, name: Literal["i"], /) -> int | None: ...

    @overload
    def get(self, name: str, default: Any = None, /) -> Any: ...


class WarmArguments(TypedDict):
    """What warm is given."""

    n: NotRequired[int]
    i: NotRequired[int]


class Local(Protocol):
    """The operations of this component, as `context.local` has them."""

    def inventory(self, input: InventoryArguments) -> InventoryReply | Error: ...
    def status(self, input: StatusArguments) -> StatusReply | Error: ...
    def pick(self, input: PickArguments) -> PickReply | Error: ...
    def warm(self, input: WarmArguments) -> Any: ...


class Operations(Protocol):
    """The operations of this component, as its model has them."""

    @overload
    def inventory(
        self,
        *,
        input: InventoryArguments,
        check: Literal[True],
    ) -> InventoryReply: ...

    @overload
    def inventory(
        self,
        *,
        input: InventoryArguments,
        check: bool = False,
    ) -> InventoryReply | Error: ...

    @overload
    def status(self, *, order: str, check: Literal[True]) -> StatusReply: ...

    @overload
    def status(self, *, order: str, check: bool = False) -> StatusReply | Error: ...

    @overload
    def pick(
        self,
        *,
        order: str,
        product: str,
        quantity: int,
        check: Literal[True],
    ) -> PickReply: ...

    @overload
    def pick(
        self,
        *,
        order: str,
        product: str,
        quantity: int,
        check: bool = False,
    ) -> PickReply | Error: ...

    def warm(self, *, n: int = ..., i: int = ...) -> Any: ...


class Context(DecidingContext[Configuration], Protocol):
    """Of a transition, an assignment or a computation."""


class ObservationContext(ReadingContext[Configuration, Local], Protocol):
    """Of an observation."""


class EffectContext(ActingContext[Configuration, Local], Protocol):
    """Of an effect."""
