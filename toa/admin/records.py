"""What became of calls and of objects: history, failures, revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator

from toa.admin import cells, decisions
from toa.admin.deciding import ActingAdmin
from toa.admin.filters import ComponentFilter, EndpointFilter, OutcomeFilter, SourceFilter, endpoints_of
from toa.admin.listing import ReadOnlyAdmin
from toa.admin.relative import span
from toa.admin.searching import by_entity, by_identity, by_revised
from toa.cadence.actions.failures import parked_behind
from toa.core.clock import EPOCH, GREATEST, to_datetime
from toa.models import Failure, History, Revision
from toa.runtime import settings
from toa.workflow.ending import SOURCE as RUN

SHORT = 120
"""Characters of an error that a list shows."""


class RecordAdmin(ActingAdmin):
    """What both records of settled calls show: newest first."""

    ordering = ("-at", "-id")
    search_fields = ("id", "call", "entity")
    search_help_text = "Id of the call or of the entity (store.orders:0193… or 0193…)."

    due = cells.moment("due_at", "due")
    settled = cells.moment("at", "settled")
    about = cells.entity("entity", "entity")
    identity = cells.identity("id", "id")

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        endpoints = endpoints_of(chosen)
        return [rows] if endpoints is None else [rows.filter(endpoint=one) for one in endpoints]

    def finding(self, term: str) -> Q:
        return by_identity(term, "id", "call") | by_entity(term)


LATEST = 100_000
"""Lines of the history among which those are looked for that no single index has."""


@admin.register(History)
class HistoryAdmin(RecordAdmin):
    list_display = ("called", "became", "due", "lateness", "attempt", "about")
    list_filter = (OutcomeFilter, SourceFilter, ComponentFilter, EndpointFilter)
    acts = (decisions.REPLAY,)
    fields = (
        "endpoint",
        "became",
        "code",
        "due",
        "lateness",
        "settled",
        "attempt",
        "about",
        "source",
        "cause_json",
        "request_json",
        "same_call",
        "identity",
    )
    page_only = ("request",)

    cause_json = cells.document("cause", "cause")
    request_json = cells.document("request", "request")

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        if not _without_index(chosen):
            return super().parts(rows, chosen)
        endpoints = endpoints_of(chosen)
        rows = nearest(rows, "-at")
        return [rows if endpoints is None else rows.filter(endpoint__in=endpoints)]

    def note(self, chosen: Mapping[str, str]) -> str:
        return f"Among the last {LATEST:,} lines of the history." if _without_index(chosen) else ""

    @admin.display(description="outcome")
    def became(self, row: History) -> str:
        outcome = f"{row.outcome} × {row.count}" if row.count > 1 else row.outcome
        return cells.lines(outcome, Truncator(row.code).chars(SHORT)) if row.code else outcome

    @admin.display(description="lateness")
    def lateness(self, row: History) -> str:
        return cells.unbroken(span(row.lateness_ms))

    @admin.display(description="endpoint")
    def called(self, row: History) -> str:
        return cells.called(row.endpoint, row.cause)

    @admin.display(description="call")
    def same_call(self, row: History) -> str:
        return cells.history_link(self.admin_site, row.call, row.call.hex)


def nearest(rows: QuerySet[Any], order: str) -> QuerySet[Any]:
    """The rows among the LATEST first ones of their table in the order of a moment; `-at`: the last ones."""
    name, down = order.removeprefix("-"), order.startswith("-")
    places = rows.model._default_manager.using(settings.alias()).order_by(order).values(name)
    end = Value(EPOCH if down else to_datetime(GREATEST))
    bound = Coalesce(Subquery(places[LATEST : LATEST + 1]), end)
    return rows.filter(**{f"{name}__{'gte' if down else 'lte'}": bound})


def _without_index(chosen: Mapping[str, str]) -> bool:
    """Whether what is asked for might be far between the lines that an index gives. A search leaves few lines."""
    led = {ComponentFilter.parameter_name, EndpointFilter.parameter_name} & chosen.keys()
    far = SourceFilter.parameter_name in chosen or (OutcomeFilter.parameter_name in chosen and bool(led))
    return far and SEARCH_VAR not in chosen


@admin.register(Failure)
class FailureAdmin(RecordAdmin):
    list_display = ("endpoint", "sentence", "settled", "attempts", "about")
    list_filter = (ComponentFilter, EndpointFilter)
    acts = (decisions.RETRY, decisions.DISCARD)
    fields = (
        "endpoint",
        "message",
        "settled",
        "due",
        "attempts",
        "about",
        "behind",
        "source",
        "run",
        "request_json",
        "trace",
        "row_json",
        "same_call",
        "identity",
    )
    page_only = ("request", "traceback", "row")

    request_json = cells.document("request", "request")
    message = cells.text("error", "error")
    row_json = cells.document("row", "live row")
    trace = cells.text("traceback", "traceback")

    @admin.display(description="error")
    def sentence(self, row: Failure) -> str:
        return Truncator(row.error).chars(SHORT)

    @admin.display(description="call")
    def same_call(self, row: Failure) -> str:
        return cells.history_link(self.admin_site, row.call, row.call.hex)

    @admin.display(description="run")
    def run(self, row: Failure) -> str:
        """The run that rests after it."""
        if row.source != RUN:
            return cells.EMPTY
        address = reverse("admin:toa_run_change", args=[row.call], current_app=self.admin_site.name)
        return format_html('<a href="{}">{}</a>', address, row.call.hex)

    @admin.display(description="parked behind")
    def behind(self, row: Failure) -> str:
        if row.source not in ("delivery", "deadline"):
            return cells.EMPTY
        number = parked_behind(row)
        if not number:
            return "nothing"
        address = reverse(
            "admin:toa_delivery_changelist", current_app=self.admin_site.name, query={"q": row.entity, "due": "parked"}
        )
        return format_html('<a href="{}">{} {}</a>', address, number, "event" if number == 1 else "events")


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin):
    """The commits of objects, newest first; those of one object by a search."""

    list_display = ("about", "version", "endpoint", "made", "changed", "outside")
    fields = (
        "about",
        "version",
        "endpoint",
        "made",
        "reached",
        "reached_moment",
        "changes_json",
        "outside",
        "cause_json",
        "digest",
        "identity",
    )
    ordering = ("-at", "-id")
    search_fields = ("id", "entity")
    search_help_text = "Id of the revision or of the entity (store.orders:0193… or 0193…)."
    page_only = ("cause", "digest")

    made = cells.moment("at", "committed")
    reached_moment = cells.moment("moment", "its moment")
    changes_json = cells.document("changes", "changes")
    cause_json = cells.document("cause", "cause")
    identity = cells.identity("id", "id")

    @admin.display(description="entity")
    def about(self, row: Revision) -> str:
        return cells.entity_link(self.admin_site, f"{row.component}:{row.entity}")

    @admin.display(description="changed")
    def changed(self, row: Revision) -> str:
        names = list(row.changes) if isinstance(row.changes, dict) else []
        return format_html_join(", ", "{}", ((name,) for name in names)) or cells.EMPTY

    def finding(self, term: str) -> Q:
        return by_identity(term, "id") | by_revised(term)
