"""Runs of workflows that have ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import Truncator

from toa.admin import cells, journals
from toa.admin.filters import Choices, OutcomeFilter, endpoints_of
from toa.admin.records import LATEST, SHORT, nearest
from toa.admin.runs import KEY, StepsAdmin, WorkflowFilter
from toa.admin.searching import by_identity
from toa.core.identity import LONGEST_KEY
from toa.models import EndedRun
from toa.runtime.starting import run_id
from toa.workflow import reports
from toa.workflow.due import workflows


class EndedOutcomeFilter(OutcomeFilter):
    """By what may become of a run."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(one.value, str(one.label)) for one in reports.OUTCOMES]


@admin.register(EndedRun)
class EndedRunAdmin(StepsAdmin):
    """Newest first."""

    list_display = ("called", "became", "over", "begun", "known_by")
    list_filter = (EndedOutcomeFilter, WorkflowFilter)
    fields = (
        "endpoint",
        "identity",
        "key",
        "became",
        "result_json",
        "journal",
        "request_json",
        "cause_json",
        "planned",
        "begun",
        "over",
    )
    ordering = ("-ended_at", "-id")
    page_only = ("request", "result")
    search_fields = ("id", "key")
    search_help_text = "Id of the run, or the key that it was started under."

    identity = cells.identity("id", "id")
    planned = cells.moment("due_at", "planned for")
    begun = cells.moment("created_at", "started")
    over = cells.moment("ended_at", "ended")
    request_json = cells.document("request", "request")
    result_json = cells.document("result", "result")
    cause_json = cells.document("cause", "cause")

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        if OutcomeFilter.parameter_name in chosen:
            rows = nearest(rows, "-ended_at")
        named = endpoints_of(chosen)
        return [rows] if named is None else [rows.filter(endpoint=one) for one in named]

    def note(self, chosen: Mapping[str, str]) -> str:
        return f"Among the last {LATEST:,} runs that ended." if OutcomeFilter.parameter_name in chosen else ""

    def finding(self, term: str) -> Q:
        # No index has the keys; a run's id follows from its workflow and its key.
        started = [run_id(endpoint, term) for endpoint in workflows()] if len(term) <= LONGEST_KEY else []
        return by_identity(term, "id") | Q(id__in=started)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("steps")  # read by pages, in short

    @admin.display(description="workflow")
    def called(self, row: EndedRun) -> str:
        return cells.called(row.endpoint, row.cause)

    @admin.display(description="key")
    def known_by(self, row: EndedRun) -> str:
        return Truncator(row.key).chars(KEY) or cells.EMPTY

    @admin.display(description="outcome")
    def became(self, row: EndedRun) -> str:
        return cells.lines(row.outcome, Truncator(row.error).chars(SHORT)) if row.error else row.outcome

    @admin.display(description="steps")
    def journal(self, row: EndedRun) -> str:
        return journals.of_ended(row, vars(row)["steps_before"])
