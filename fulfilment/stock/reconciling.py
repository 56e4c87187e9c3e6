"""Shelves beside the copy of them: which figures are to be set, and which are to be left alone.

A shelf holds every piece of a product that is in the house. Some of these are kept for orders: `reserved`, in the same
row. Free to be reserved is what is left over, so `available` is the shelf's figure less what is kept, and nothing
where more is kept than there is. Pieces that were taken from the shelf for an order count as kept until the order is
packed; for that while the copy may say less than is free, never more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Shelf(Protocol):
    """A line of the warehouse's inventory."""

    @property
    def product(self) -> str: ...

    @property
    def available(self) -> int: ...


class Copy(Protocol):
    """What the shop has of a product, and which version of it."""

    @property
    def id(self) -> str: ...

    @property
    def available(self) -> int: ...

    @property
    def reserved(self) -> Mapping[str, int]: ...

    @property
    def UPDATED(self) -> int: ...

    @property
    def VERSION(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A figure to be set, if the copy still has the version that it had before the warehouse was asked."""

    product: str
    available: int
    version: int
    """0 where the shop has never written it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a page of the inventory says about the copy."""

    corrections: Sequence[Correction]
    fresh: Sequence[str]
    """Products that changed too lately: events about them may be on their way."""
    doubtful: Sequence[str]
    """Products of which the page has two figures."""
    short: Sequence[str]
    """Products of which more is kept for orders than there is."""
    reached: str | None
    """Up to which product both sides were seen; null for the end."""


def compare(
    shelves: Iterable[Shelf], following: str | None, copies: Sequence[Copy], *, full: bool, quiet_since: int
) -> Comparison:
    """Compare a page of the inventory with the copies from the same product on, read before it was asked for.

    `following` is where the warehouse's next page begins; `full` says that there may be more copies after these;
    copies that changed after `quiet_since` (epoch ms) are left alone. Products that the warehouse has no shelf for are
    left alone too: it says nothing about them.
    """
    end = copies[-1].id if full else None
    reached = min((place for place in (end, following) if place is not None), default=None)
    known = {copy.id: copy for copy in copies}
    figures, doubtful = _figures(shelf for shelf in shelves if reached is None or shelf.product <= reached)
    corrections, fresh, short = [], [], []
    for product, figure in figures.items():
        copy = known.get(product)
        if copy is None:
            if figure:
                corrections.append(Correction(product=product, available=figure, version=0))
            continue
        kept = sum(copy.reserved.values())
        if copy.UPDATED > quiet_since:
            fresh.append(product)
        elif copy.available != max(0, figure - kept):
            corrections.append(Correction(product=product, available=max(0, figure - kept), version=copy.VERSION))
        if kept > figure:
            short.append(product)
    return Comparison(corrections=corrections, fresh=fresh, doubtful=doubtful, short=short, reached=reached)


def _figures(shelves: Iterable[Shelf]) -> tuple[dict[str, int], list[str]]:
    """The figure of each product, and the products that have two."""
    figures: dict[str, int] = {}
    doubtful: dict[str, None] = {}
    for shelf in shelves:
        if figures.setdefault(shelf.product, shelf.available) != shelf.available:
            doubtful[shelf.product] = None
    return {product: figure for product, figure in figures.items() if product not in doubtful}, list(doubtful)
