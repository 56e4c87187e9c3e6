"""Calls that are still to be made: delays and deliveries."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from toa.admin import cells
from toa.admin.filters import ComponentFilter, DueFilter, DueOrParkedFilter, EndpointFilter
from toa.admin.listing import ReadOnlyAdmin
from toa.admin.relative import relative
from toa.admin.searching import by_entity, by_identity, by_source
from toa.core.clock import to_moment
from toa.core.duration import format_duration
from toa.models import Delay, Delivery


class LiveAdmin(ReadOnlyAdmin):
    """What both kinds of stored calls show, what is most overdue first."""

    ordering = ("due_at", "id")
    list_filter = (DueFilter, ComponentFilter, EndpointFilter)
    page_only = ("request", "chain")

    due = cells.moment("due_at", "due", past="late")
    next_look = cells.moment("wake_at", "next look")
    created = cells.moment("created_at", "stored")
    call = cells.identity("id", "id")
    lease = cells.identity("token", "lease")
    request_json = cells.document("request", "request")
    cause_json = cells.document("cause", "cause")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        # The calls of one endpoint have an index of their own, by the moment they are looked at next.
        return ("wake_at", "id") if request.GET.get(EndpointFilter.parameter_name) else self.ordering

    @admin.display(description="state")
    def state(self, row: Any) -> str:
        if row.wake_at is None:
            return "parked"
        wake, now = to_moment(row.wake_at), cells.read_at(row)
        if row.token is not None:
            return cells.lines("running", f"lease ends {relative(wake, now)}" if wake > now else "lease lapsed")
        if wake <= now:
            return "due"
        if to_moment(row.due_at) > now:
            return "waiting"
        return cells.lines("waiting", f"next try {relative(wake, now)}") if row.attempt else "handed out"

    @admin.display(description="attempts")
    def attempts(self, row: Any) -> str:
        if not row.strikes:
            return str(row.attempt)
        return cells.lines(row.attempt, "1 strike" if row.strikes == 1 else f"{row.strikes} strikes")

    @admin.display(description="chain")
    def hops(self, row: Any) -> str:
        return "\n".join(row.chain) or cells.EMPTY


@admin.register(Delay)
class DelayAdmin(LiveAdmin):
    list_display = ("called", "due", "state", "attempts", "armed_by")
    fields = (
        "endpoint",
        "call",
        "source",
        "due",
        "state",
        "next_look",
        "overdue",
        "attempt",
        "strikes",
        "armed_by",
        "name",
        "request_json",
        "cause_json",
        "hops",
        "created",
        "lease",
    )
    search_fields = ("id", "entity")
    search_help_text = "Id of the delay, or of the entity that armed it (store.orders:0193… or 0193…)."

    armed_by = cells.entity("entity", "entity")

    @admin.display(description="endpoint")
    def called(self, row: Delay) -> str:
        return cells.called(row.endpoint, row.cause, row.name)

    @admin.display(description="expires")
    def overdue(self, row: Delay) -> str:
        if row.overdue_ms is None:
            return "never, however late"
        return f"when it is {format_duration(row.overdue_ms)} late"

    def finding(self, term: str) -> Q:
        return by_identity(term, "id") | by_entity(term)


@admin.register(Delivery)
class DeliveryAdmin(LiveAdmin):
    list_display = ("endpoint", "happened", "due", "state", "attempts", "received_by")
    list_filter = (DueOrParkedFilter, ComponentFilter, EndpointFilter)
    fields = (
        "endpoint",
        "call",
        "event",
        "raised_by",
        "version",
        "position",
        "received_by",
        "due",
        "state",
        "next_look",
        "attempt",
        "strikes",
        "request_json",
        "cause_json",
        "hops",
        "created",
        "lease",
    )
    search_fields = ("id", "source", "source_id")
    search_help_text = "Id of the delivery, or of the entity that raised the event (store.orders:0193… or 0193…)."

    @admin.display(description="event")
    def happened(self, row: Delivery) -> str:
        return cells.entity_link(self.admin_site, f"{row.source}:{row.source_id}", above=row.event)

    @admin.display(description="from")
    def raised_by(self, row: Delivery) -> str:
        return cells.entity_link(self.admin_site, f"{row.source}:{row.source_id}")

    @admin.display(description="to")
    def received_by(self, row: Delivery) -> str:
        if not row.target:
            return row.receiver
        return cells.entity_link(self.admin_site, f"{row.receiver}:{row.target}")

    def finding(self, term: str) -> Q:
        return by_identity(term, "id") | by_source(term)
