from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from fulfilment.rounds.types import Operations


class Round(Entity):
    """The round of one operation, named by its endpoint."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "round"

    def __str__(self) -> str:
        return f"{self.id}: after {self.after!r}" if self.after else f"{self.id}: at its beginning"
