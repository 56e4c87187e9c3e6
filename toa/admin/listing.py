"""What toa's lists share: nothing can be changed, and the price of a page does not grow with its table."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import DateTimeField, Model, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import HttpRequest

from toa.admin.paging import BoundedPaginator
from toa.runtime import clock, settings


def now_expression() -> RawSQL:
    """Now by the clock that decides what is due, in SQL: the same for all rows of a page, and served by indexes."""
    return RawSQL(clock.clock().expression(), [], output_field=DateTimeField())


class FixedList(ChangeList):
    """A list in one order, which an index serves, without the columns that only an object's page shows."""

    model_admin: ReadOnlyAdmin

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        # Django takes an order by any column from the address, whether or not the column's head offers it.
        return list(self.model_admin.get_ordering(request))

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        return super().get_queryset(request, exclude_parameters).defer(*self.model_admin.page_only)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # One page by the count may be more rows by now.
        self.result_list = self.result_list[: self.list_per_page]


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows to look at, for those with the permission to view them. Every row knows the moment it was read, `read_at`.

    Columns with a moment are shown with its distance to that moment, by the clock that decides what is due.
    """

    actions = None
    list_per_page = 100
    list_max_show_all = 100
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    page_only: tuple[str, ...] = ()
    """Fields that the list does not read."""

    class Media:
        css = {"all": ("toa/admin.css",)}

    def now(self) -> RawSQL:
        """What `read_at` is."""
        return now_expression()

    def finding(self, term: str) -> Q:
        """The rows that a search is for; an empty condition finds none."""
        return Q()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FixedList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).using(settings.alias()).annotate(read_at=self.now())
        return rows

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        # The database refuses the character; no row has it in its key.
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        condition = self.finding(term)
        return (queryset.filter(condition) if condition else queryset.none()), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        # Django would allow any lookup into any column, such as a regular expression over all tracebacks.
        return lookup in {getattr(one, "parameter_name", None) for one in self.list_filter}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
