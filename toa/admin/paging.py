"""Pages over tables of any size: counting stops at a bound."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

BOUND = 10_000
"""How many rows are counted, and can be reached page by page. Filters and search lead to the others."""


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """A paginator that looks at most one row beyond its bound.

    A count of everything reads everything; here the price of a page does not grow with the table.
    """

    object_list: QuerySet[Any]
    bound = BOUND

    @cached_property
    def _seen(self) -> int:
        # Without an order the database may count whichever rows are nearest.
        return self.object_list.order_by()[: self.bound + 1].count()

    @cached_property
    def count(self) -> int:
        """The number of rows, or the bound where there are more."""
        return min(self._seen, self.bound)

    @property
    def exceeded(self) -> bool:
        """Whether there are rows beyond the bound."""
        return self._seen > self.bound
