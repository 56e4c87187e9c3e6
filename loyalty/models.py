from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from loyalty.types import Operations


class Membership(Entity):
    """What one customer has earned. There is one for every customer, from the first point on as a row."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "membership"

    def __str__(self) -> str:
        return f"{self.id}: {self.points} points, {self.tier}"
