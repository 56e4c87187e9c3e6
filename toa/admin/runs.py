"""Runs of workflows that are on their way, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator

from toa.admin import cells, decisions, journals
from toa.admin.filters import Choices, EndpointFilter, KnownFilter, endpoints_of
from toa.admin.listing import ReadOnlyAdmin
from toa.admin.live import LiveAdmin
from toa.admin.records import LATEST, SHORT, nearest
from toa.admin.relative import relative
from toa.admin.searching import by_identity
from toa.core.clock import to_datetime, to_moment
from toa.models import EndedRun, Failure, Run, RunCall
from toa.runtime import settings
from toa.workflow import reports
from toa.workflow.due import workflows
from toa.workflow.ending import SOURCE
from toa.workflow.explaining.gathering import facts_of
from toa.workflow.explaining.telling import tell_present

KEY = 36
"""Characters of a key that a list shows."""


class WorkflowFilter(EndpointFilter):
    """By the workflow."""

    title = "workflow"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(endpoint, endpoint) for endpoint in sorted(workflows())]


class StepsAdmin(ReadOnlyAdmin):
    """What the pages of both kinds of runs share: their steps, a page at a time."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found is not None:
            found.steps_before = journals.read_before(request.GET.get(journals.BEFORE, ""))
        return found


class RunStateFilter(KnownFilter):
    """By what a run on its way does."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(name, name.capitalize()) for name in reports.STATES]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(reports.STATES[value])


@admin.register(Run)
class RunAdmin(StepsAdmin, LiveAdmin):
    acts = decisions.ON_RUNS
    list_display = ("called", "state", "waits_for", "goes_on", "steps")
    list_filter = (RunStateFilter, WorkflowFilter)
    fields = (
        "endpoint",
        "call",
        "key",
        "state",
        "waits_for",
        "goes_on",
        "words",
        "journal",
        "cursors",
        "ending",
        "request_json",
        "cause_json",
        "hops",
        "planned",
        "begun",
        "strikes",
    )
    page_only = ("request", "chain", "watches")
    search_fields = ("id", "key")
    search_help_text = "Id of the run, or its key."

    goes_on = cells.moment("wake_at", "goes on")
    planned = cells.moment("due_at", "planned for")
    begun = cells.moment("created_at", "started")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return self.ordering if RunStateFilter.parameter_name in request.GET else super().get_ordering(request)

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        if RunStateFilter.parameter_name not in chosen:
            return super().parts(rows, chosen)
        rows = nearest(rows, "due_at")
        named = endpoints_of(chosen)
        return [rows if named is None else rows.filter(endpoint__in=named)]

    def note(self, chosen: Mapping[str, str]) -> str:
        led = RunStateFilter.parameter_name in chosen
        return f"Among the {LATEST:,} runs that were planned first." if led else ""

    def lead_on(self) -> Sequence[tuple[str, str]]:
        return [("Runs that ended", reverse("admin:toa_endedrun_changelist", current_app=self.admin_site.name))]

    def finding(self, term: str) -> Q:
        return by_identity(term, "id") | Q(key=term)

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        """A run that has ended meanwhile has its page among those."""
        over = self.admin_site._registry[EndedRun]
        if over.has_view_permission(request) and over.get_object(request, object_id) is not None:
            address = reverse("admin:toa_endedrun_change", args=[object_id], current_app=self.admin_site.name)
            return HttpResponseRedirect(address)
        gone: HttpResponse = super()._get_obj_does_not_exist_redirect(request, opts, object_id)  # type: ignore[misc]
        return gone

    @admin.display(description="workflow")
    def called(self, row: Run) -> str:
        if not row.key:
            return cells.called(row.endpoint, row.cause)
        return cells.lines(row.endpoint, Truncator(row.key).chars(KEY))

    @admin.display(description="state")
    def state(self, row: Any) -> str:
        said = reports.state(row, cells.read_at(row))
        return cells.list_link(self.admin_site, "failure", row.id.hex, said) if row.failed_at is not None else said

    @admin.display(description="waits for")
    def waits_for(self, row: Run) -> str:
        return reports.waits_for(row) or cells.EMPTY

    @admin.display(description="steps")
    def journal(self, row: Run) -> str:
        """What was done, what it waits for, and what it rests after."""
        table = journals.of_live(row, cells.read_at(row), vars(row)["steps_before"])
        calls = RunCall.objects.using(settings.alias()).filter(run=row.pk)
        if (row.waits or {}).get("call") and (call := calls.first()) is not None:
            table += format_html("<p>{}</p>", _effect(call, cells.read_at(row)))
        if row.failed_at is None:
            return table
        failure = Failure.objects.using(settings.alias()).filter(call=row.pk, source=SOURCE).first()
        if failure is None:
            return table
        error = Truncator(failure.error).chars(SHORT)
        return table + format_html(
            "<p>Rests after a failure: {}</p>", cells.row_link(self.admin_site, "failure", failure.pk, error)
        )

    @admin.display(description="in words")
    def words(self, row: Run) -> str:
        """Why it is where it is; its queries are bounded, whatever it did."""
        told = tell_present(facts_of(row))
        return format_html_join("", '<p class="toa-words">{}</p>', ((one,) for one in told))

    @admin.display(description="watches")
    def cursors(self, row: Run) -> str:
        """Up to where each watch is done."""
        now = cells.read_at(row)
        told = [
            (
                name or "without a key",
                cells.local(to_datetime(cursor)).replace(tzinfo=None).isoformat(" ", "seconds"),
                relative(cursor, now),
            )
            for name, (_, cursor) in sorted(row.watches.items())
        ]
        return format_html_join("", "{}: done up to {}, {}<br>", told) or cells.EMPTY

    @admin.display(description="cancel")
    def ending(self, row: Run) -> str:
        if row.cancel_at is None:
            return cells.EMPTY
        return f"asked for by {row.cancel_by or 'code'}, {relative(to_moment(row.cancel_at), cells.read_at(row))}"


def _effect(call: RunCall, now: int) -> str:
    if call.wake_at is None:
        return f"{call.endpoint} is not looked at"
    wake = relative(to_moment(call.wake_at), now)
    how = f"runs, its lease ends {wake}" if call.token is not None else f"is made {wake}"
    after = f", after {call.error}" if call.error else ""
    return f"{call.endpoint} {how}; attempt {call.attempt + 1}{after}"
