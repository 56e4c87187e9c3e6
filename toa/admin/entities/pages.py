"""`EntityAdmin`: the lists and pages of a component's objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from toa.admin.entities import calling, columns, offering, timing
from toa.admin.listing import ReadOnlyAdmin
from toa.core.specs import EntitySpec
from toa.runtime import bindings
from toa.runtime.bindings import Component, Operation


class EntityAdmin(ReadOnlyAdmin):
    """The objects of a component, to look at, with the operations that may be called on them.

    ::

        admin.site.register(Order, EntityAdmin)

    Nothing is edited: what changes an object is an operation, and a person sees a button for each one that the person
    has the permission to call (`store_orders.call_cancel`). Columns, filters, what a search looks at and the fields of
    a page follow from the manifest; a subclass may set `list_display`, `list_filter`, `search_fields`, `fields` and
    `ordering` as in any admin class. A search is for whole values of `search_fields`, so that indexes answer it.
    """

    change_form_template = "admin/toa/entity/change_form.html"
    change_list_template = "admin/toa/entity/change_list.html"
    call_template = "admin/toa/entity/call.html"

    class Media:
        css = {"all": ("toa/admin.css", "toa/pages.css")}
        js = ("toa/countdown.js",)

    def get_list_display(self, request: HttpRequest) -> Any:
        own = tuple(self.list_display) != ("__str__",)
        return self.list_display if own else columns.listed(self.component.spec)

    def get_list_filter(self, request: HttpRequest) -> Any:
        return self.list_filter or columns.filtered(self._entity)

    def get_search_fields(self, request: HttpRequest) -> Any:
        return self.search_fields or columns.searched(self._entity)

    def get_ordering(self, request: HttpRequest) -> Any:
        return self.ordering or columns.ordered(self._entity)

    @property
    def component(self) -> Component:
        """The component, ready to run."""
        return bindings.component(self.model.component.locator)

    @property
    def _entity(self) -> EntitySpec:
        return self.component.table.entity

    def get_urls(self) -> list[URLPattern]:
        names = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path("call/<str:operation>/", self.admin_site.admin_view(self.create_view), name=f"{names}_create"),
            path(
                "<path:object_id>/call/<str:operation>/",
                self.admin_site.admin_view(self.call_view),
                name=f"{names}_call",
            ),
            *super().get_urls(),
        ]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if self.fields or self.fieldsets:
            return super().get_fieldsets(request, obj)
        return columns.grouped(self.component.spec, self.model)

    def finding(self, term: str) -> Q:
        condition, fields = Q(), {one.name: one for one in self.opts.fields}
        for name in self.search_fields or columns.searched(self._entity):
            try:
                value = fields[name].to_python(term)
            except ValidationError:
                continue  # such as a word where the column holds numbers
            # The index of a unique rule has no deleted objects: without saying so the whole table would be read.
            present = columns.without_deleted(self._entity) if name in columns.unique_alone(self._entity) else {}
            condition |= Q(**{name: value, **present})
        return condition

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        names = {one for one in self.list_filter or columns.filtered(self._entity) if isinstance(one, str)}
        return lookup.partition("__")[0] in names or super().lookup_allowed(lookup, value, request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        offered = offering.creating(self.component, request.user)
        tools = [
            {"name": one.spec.name, "title": one.spec.description, "url": self._address("create", one.spec.name)}
            for one in offered
        ]
        return super().changelist_view(request, {**(extra_context or {}), "toa_creating": tools})

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        found = super().get_changelist_instance(request)
        found.search_help_text = str(self.search_help_text or f"Whole {' or '.join(self.get_search_fields(request))}.")
        return found

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        row = context.get("original")
        if row is not None:
            context |= {
                "toa_operations": self._buttons(request, row),
                "toa_time": timing.panel(self.component, row, self.admin_site, request),
            }
        return super().render_change_form(request, context, *args, **kwargs)

    # Outside of ATOMIC_REQUESTS: an operation opens its own transaction and may try it again.
    @transaction.non_atomic_requests
    def call_view(self, request: HttpRequest, object_id: str, operation: str) -> HttpResponse:
        """The form of an operation on one object, and the call."""
        found = self._permitted(request, operation, offering.changes_one)
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(f"There is no {self.opts.verbose_name} {unquote(object_id)}.")
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        return self._exchange(request, calling.Asking(component=self.component, operation=found, row=row))

    @transaction.non_atomic_requests
    def create_view(self, request: HttpRequest, operation: str) -> HttpResponse:
        """The form of an operation that makes an object, and the call."""
        found = self._permitted(request, operation, offering.makes_one)
        return self._exchange(request, calling.Asking(component=self.component, operation=found, row=None))

    def _permitted(self, request: HttpRequest, name: str, fits: Callable[[Any], bool]) -> Operation:
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = self.component.operations.get(name)
        if found is None or not fits(found.spec):
            raise Http404(f"{self.component.locator} offers no operation {name!r} here.")
        if not offering.may_call(found, request.user):
            raise PermissionDenied
        return found

    def _exchange(self, request: HttpRequest, asking: calling.Asking) -> HttpResponse:
        answer = calling.answer(self, request, asking)
        if answer.location is not None:
            return answer.location
        operation = asking.operation
        back = self.page_of(None if asking.row is None else calling.identity_of(self.component, asking.row))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{operation.spec.name.replace('_', ' ').capitalize()}: {asking.row or self.opts.verbose_name}",
            "opts": self.opts,
            "media": self.media + answer.form.media,
            "form": answer.form,
            "operation": operation.spec,
            "endpoint": operation.endpoint,
            "ends": offering.ends(operation.spec),
            "row": asking.row,
            "present": [] if asking.row is None else columns.texts(self._entity, asking.row),
            "back": back,
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, self.call_template, context)

    def _buttons(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        if getattr(row, self.component.table.entity.system["DELETED"].field) is not None:
            return []
        return [
            {
                "name": one.spec.name,
                "title": one.spec.description,
                "ends": offering.ends(one.spec),
                "url": self._address("call", quote(calling.identity_of(self.component, row)), one.spec.name),
            }
            for one in offering.on_object(self.component, request.user)
        ]

    def page_of(self, identity: Any) -> str:
        """The address of an object's page, by its id as drafts have it; without an id, that of the list."""
        return self._address("changelist") if identity is None else self._address("change", quote(identity))

    def _address(self, page: str, *words: Any) -> str:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}"
        return reverse(name, args=words, current_app=self.admin_site.name)
