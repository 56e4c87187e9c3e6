"""What toa's lists share: nothing can be edited, and the price of a page does not grow with its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db.models import DateTimeField, Model, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.http import HttpRequest

from toa.admin.keyset import Order, page
from toa.exceptions import InvalidQuery
from toa.runtime import clock, settings

AFTER, BEFORE = "after", "before"
"""The parameters of an address that say where a page begins or ends."""


def now_expression() -> RawSQL:
    """Now by the clock that decides what is due, in SQL: the same for all rows of a page, and served by indexes."""
    return RawSQL(clock.clock().expression(), [], output_field=DateTimeField())


class KeysetList(ChangeList):
    """A list in one order, which an index serves, without the columns that only an object's page shows.

    Django counts the rows and walks over those of the pages before; here a page begins where the last one ended.
    """

    model_admin: ReadOnlyAdmin
    first: str | None
    """The addresses of the first page, of the one before and of the next; null where there is none."""
    previous: str | None
    next: str | None
    note: str

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        # Django takes an order by any column from the address, whether or not the column's head offers it.
        return list(self.model_admin.get_ordering(request))

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        return super().get_queryset(request, exclude_parameters).defer(*self.model_admin.page_only)

    def get_filters_params(self, params: Any = None) -> Any:
        found = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (AFTER, BEFORE)}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        # Another filter is another list: it begins at its beginning.
        return super().get_query_string({AFTER: None, BEFORE: None, **(new_params or {})}, remove)

    def get_results(self, request: HttpRequest) -> None:
        filters = [one for one in self.filter_specs if isinstance(one, admin.SimpleListFilter)]
        chosen = {str(one.parameter_name): value for one in filters if (value := one.value()) is not None}
        if self.query:
            chosen[SEARCH_VAR] = self.query
        self.note = self.model_admin.note(chosen)
        order = Order.by(self.opts, [str(name) for name in self.model_admin.get_ordering(request)])
        after, before = self.params.pop(AFTER, None), self.params.pop(BEFORE, None)
        try:
            found = page(
                self.model_admin.parts(self.queryset, chosen), order, self.list_per_page, after=after, before=before
            )
        except InvalidQuery as error:
            raise IncorrectLookupParameters from error
        self.model_admin.read_beside(found.rows)
        self.result_list = found.rows
        # What is on the page is all that is known.
        self.result_count = self.full_result_count = len(found.rows)
        self.show_full_result_count, self.show_admin_actions = False, True
        self.can_show_all = self.multi_page = False
        self.first = None if found.before is None else self.get_query_string()
        self.previous = None if found.before is None else self.get_query_string({BEFORE: found.before})
        self.next = None if found.after is None else self.get_query_string({AFTER: found.after})


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows to look at, for those with the permission to view them. Every row knows the moment it was read, `read_at`.

    Columns with a moment are shown with its distance to that moment, by the clock that decides what is due.
    """

    actions = None
    change_list_template = "admin/toa/change_list.html"
    list_per_page = 100
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

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        """The rows of a list in parts that an index serves each; `chosen` are the values of the filters, by the name
        of their parameter, and the search."""
        return [rows]

    def note(self, chosen: Mapping[str, str]) -> str:
        """What a person has to know about the rows that are listed."""
        return ""

    def read_beside(self, rows: Sequence[Any]) -> None:
        """Set on the rows of one page what they show from elsewhere, in a number of queries that is the same for
        any number of rows."""

    def lead_on(self) -> Sequence[tuple[str, str]]:
        """Other lists that a person may want from here: words and address."""
        return ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return KeysetList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).using(settings.alias()).annotate(read_at=self.now())
        return rows

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        # The database refuses the character; no row has it in its key.
        found = None if "\0" in object_id else super().get_object(request, object_id, from_field)
        if found is not None:
            self.read_beside([found])
        return found

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
