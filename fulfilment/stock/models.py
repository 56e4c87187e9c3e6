from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from fulfilment.stock.types import Operations


class Stock(Entity):
    """The stock of one product, named by the product itself."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "stock"
        verbose_name_plural = "stock"

    def __str__(self) -> str:
        return f"{self.id}: {self.available} available"
