from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa.models import Entity

if TYPE_CHECKING:
    from store.reports.types import Operations


class Report(Entity):
    """What was ordered in one week."""

    operations: ClassVar[Operations]

    class Meta:
        verbose_name = "report"

    def __str__(self) -> str:
        return str(self.id)
