from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from store.payments.types import Operations


class Refund(Entity):
    """What is owed to the customer of an order that was paid and then given up, and under which name it was paid."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "refund"

    def __str__(self) -> str:
        return f"{self.amount}: {self.reference}" if self.reference else f"{self.amount}, owed"
