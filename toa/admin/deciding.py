"""Lists whose rows people act on: the actions of the list, the buttons of a row's page, the page that asks first."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin import helpers
from django.contrib.admin.utils import quote
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from toa.admin.acting import Act, Subject, log, perform, report
from toa.admin.listing import ReadOnlyAdmin
from toa.runtime import settings

SELECTED = helpers.ACTION_CHECKBOX_NAME


class ActingAdmin(ReadOnlyAdmin):
    """Rows to look at and to act on. Whoever may not act sees no action, and is refused one made by hand."""

    acts: tuple[Act, ...] = ()
    change_form_template = "admin/toa/acting.html"

    def allowed(self, request: HttpRequest) -> list[Act]:
        """The actions that this person may take."""
        return [act for act in self.acts if request.user.has_perm(act.permission)]

    def get_urls(self) -> list[URLPattern]:
        address = path("act/<slug:name>/", self.admin_site.admin_view(self.act_view), name=self._address_name)
        return [address, *super().get_urls()]

    @property
    def _address_name(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_act"

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {act.name: (_asked_for(act), act.name, act.title) for act in self.allowed(request)}

    @transaction.non_atomic_requests
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        wanted = set(request.POST.getlist("action"))
        if any(act.name in wanted and not request.user.has_perm(act.permission) for act in self.acts):
            raise PermissionDenied
        view: HttpResponse = super().changelist_view(request, extra_context)
        return view

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        row = kwargs.get("obj")
        offered = [act for act in self.allowed(request) if row is not None and act.offered(row)]
        context["acts"] = [(act, self._address(act)) for act in offered]
        return super().render_change_form(request, context, *args, **kwargs)

    @method_decorator(require_POST)
    @transaction.non_atomic_requests
    def act_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """What a button of a row's page, or a page that asked, sends."""
        act = next((one for one in self.acts if one.name == name), None)
        if act is None:
            raise Http404
        if not (self.has_view_permission(request) and request.user.has_perm(act.permission)):
            raise PermissionDenied
        return self.decide(request, act)

    def decide(self, request: HttpRequest, act: Act) -> HttpResponse:
        """Ask, or do it and tell."""
        subjects = self._subjects(request)
        answered = "answered" in request.POST
        form = None if act.form is None else act.form(request.POST if answered else None)
        if act.asks and not (answered and (form is None or form.is_valid())):
            return self._ask(request, act, subjects, form)
        given = {} if form is None else form.cleaned_data
        told = perform(act, subjects, request.user.get_username(), given)
        log(act, told, request.user, self.model)
        report(request, told)
        return HttpResponseRedirect(self._back(request, subjects))

    def _subjects(self, request: HttpRequest) -> list[Subject]:
        """The rows that were selected, in the order of their keys, as two people at once both take them."""
        keys = set()
        for text in request.POST.getlist(SELECTED):
            try:
                keys.add(self.opts.pk.to_python(text))
            except ValidationError:
                raise BadRequest("this is no key of a row") from None
        if not keys or len(keys) > self.list_per_page:
            raise BadRequest(f"an action takes 1 to {self.list_per_page} rows")
        rows = self.model._default_manager.using(settings.alias()).defer(*self.page_only).in_bulk(keys)
        return [Subject(pk=key, row=rows.get(key)) for key in sorted(keys)]

    def _ask(
        self, request: HttpRequest, act: Act, subjects: list[Subject], form: forms.Form | None
    ) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": act.title,
            "act": act,
            "action": self._address(act),
            "subjects": subjects,
            "selected": SELECTED,
            "form": form,
            "media": self.media if form is None else self.media + form.media,
            "opts": self.opts,
            "back": self._back(request, subjects),
            "listed": self._listed(request),
            "page": request.POST.get("page", ""),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, "admin/toa/asking.html", context)

    def _address(self, act: Act) -> str:
        return reverse(f"admin:{self._address_name}", args=[act.name], current_app=self.admin_site.name)

    def _listed(self, request: HttpRequest) -> str:
        """The filters and the page of the list that the person came from."""
        return request.POST.get("listed", request.GET.urlencode())

    def _back(self, request: HttpRequest, subjects: list[Subject]) -> str:
        """To the page of the row, where the person came from there and it is still there, else to the list."""
        name, current = f"admin:{self.opts.app_label}_{self.opts.model_name}", self.admin_site.name
        if request.POST.get("page"):
            (key,) = {one.pk for one in subjects} if len(subjects) == 1 else {None}
            if key is not None and self.model._default_manager.using(settings.alias()).filter(pk=key).exists():
                return reverse(f"{name}_change", args=[quote(key)], current_app=current)
        listed = self._listed(request)
        return reverse(f"{name}_changelist", current_app=current) + (f"?{listed}" if listed else "")


def _asked_for(act: Act) -> Any:
    def decide(admin: ActingAdmin, request: HttpRequest, rows: Any) -> HttpResponse:
        return admin.decide(request, act)

    return decide
