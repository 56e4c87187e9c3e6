from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from store.orders.types import Operations


class Order(Entity):
    """One line of the shop's order book: so many of one product, for one customer."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "order"

    def __str__(self) -> str:
        return f"{self.reference} ({self.status})"
