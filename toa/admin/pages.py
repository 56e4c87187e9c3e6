"""Pages of toa that stand among the lists of its tables, and are not the rows of one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.apps.registry import Apps
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path


def entry(name: str, singular: str, plural: str) -> type[models.Model]:
    """What the admin takes for a model, so that a page has its place in the index. No table, migration or permission
    comes of it: the registry of models does not know it."""
    meta = {
        "app_label": "toa",
        "apps": Apps(),
        "managed": False,
        "default_permissions": (),
        "verbose_name": singular,
        "verbose_name_plural": plural,
    }
    made: type[models.Model] = type(name, (models.Model,), {"__module__": __name__, "Meta": type("Meta", (), meta)})
    return made


class PageAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """One page to look at, for those with a permission of toa."""

    permission = ""
    template = ""

    class Media:
        css = {"all": ("admin/css/changelists.css", "toa/admin.css")}

    def content(self, request: HttpRequest) -> dict[str, Any]:
        """What the template is filled with."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        name = f"toa_{self.opts.model_name}_changelist"
        return [path("", self.admin_site.admin_view(self.changelist_view), name=name)]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": str(self.opts.verbose_name_plural).capitalize(),
            "opts": self.opts,
            "app_name": apps.get_app_config("toa").verbose_name,
            "media": self.media,
            **self.content(request),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, self.template, context)

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {"add": False, "change": False, "delete": False, "view": self.has_view_permission(request)}

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm(self.permission))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def links(request: HttpRequest, name: str, choices: Sequence[tuple[str, str]], ignored: Sequence[str]) -> Any:
    """The choices of a filter as its template takes them: each with its address, and whether it is the present one.

    `ignored` are parameters that no choice keeps.
    """
    present = request.GET.get(name, "")
    for value, words in (("", "All"), *choices):
        query = request.GET.copy()
        for gone in (name, *ignored):
            query.pop(gone, None)
        if value:
            query[name] = value
        yield {"selected": value == present, "query_string": f"?{query.urlencode()}", "display": words}
