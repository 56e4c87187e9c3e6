from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from fulfilment.courier.types import Operations


class Booking(Entity):
    """A packed order that a courier is to fetch."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "booking"

    def __str__(self) -> str:
        return self.reference or "wanted"
