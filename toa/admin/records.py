"""What became of calls: history and failures."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q
from django.utils.text import Truncator

from toa.admin import cells
from toa.admin.filters import ComponentFilter, EndpointFilter, OutcomeFilter
from toa.admin.listing import ReadOnlyAdmin
from toa.admin.relative import span
from toa.admin.searching import by_entity, by_identity
from toa.models import Failure, History

SHORT = 120
"""Characters of an error that a list shows."""


class RecordAdmin(ReadOnlyAdmin):
    """What both records of settled calls show: newest first."""

    ordering = ("-at", "-id")
    search_fields = ("id", "call", "entity")
    search_help_text = "Id of the call or of the entity (store.orders:0193… or 0193…)."

    due = cells.moment("due_at", "due")
    settled = cells.moment("at", "settled")
    about = cells.entity("entity", "entity")
    identity = cells.identity("id", "id")

    def finding(self, term: str) -> Q:
        return by_identity(term, "id", "call") | by_entity(term)


@admin.register(History)
class HistoryAdmin(RecordAdmin):
    list_display = ("called", "became", "due", "lateness", "attempt", "about")
    list_filter = (OutcomeFilter, ComponentFilter, EndpointFilter)
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
        "same_call",
        "identity",
    )

    cause_json = cells.document("cause", "cause")

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


@admin.register(Failure)
class FailureAdmin(RecordAdmin):
    list_display = ("endpoint", "sentence", "settled", "attempts", "about")
    list_filter = (ComponentFilter, EndpointFilter)
    fields = (
        "endpoint",
        "message",
        "settled",
        "due",
        "attempts",
        "about",
        "source",
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
