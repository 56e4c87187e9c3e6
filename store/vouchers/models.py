from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from store.vouchers.types import Operations


class Voucher(Entity):
    """A discount that may be used so many times, until it expires."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "voucher"

    def __str__(self) -> str:
        return f"{self.discount} %, {self.left} left"
