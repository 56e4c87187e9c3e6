"""Events on their way to their receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.urls import reverse
from django.utils.html import format_html

from toa.admin import cells
from toa.admin.filters import ComponentFilter, DueOrParkedFilter, EndpointFilter, SourceFilter
from toa.admin.live import LiveAdmin
from toa.admin.searching import by_identity, by_source, by_target
from toa.models import Delivery, Failure
from toa.runtime import settings


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
        "error",
        "strikes",
        "request_json",
        "cause_json",
        "hops",
        "created",
        "lease",
    )
    search_fields = ("id", "source", "source_id")
    search_help_text = (
        "Id of the delivery, or of the entity that raised or receives the event (store.orders:0193… or 0193…)."
    )

    def lead_on(self) -> Sequence[tuple[str, str]]:
        address = reverse(
            "admin:toa_history_changelist",
            current_app=self.admin_site.name,
            query={SourceFilter.parameter_name: "delivery"},
        )
        return [("Events that arrived", address)]

    def read_beside(self, rows: Sequence[Any]) -> None:
        """Which of them failed themselves; the others that have no moment wait behind one that did."""
        parked = [row.id for row in rows if row.wake_at is None]
        found = Failure.objects.using(settings.alias()).filter(call__in=parked).values_list("call", "id")
        failed = dict(found) if parked else {}
        for row in rows:
            row.failure = failed.get(row.id)

    @admin.display(description="state")
    def state(self, row: Any) -> str:
        if row.wake_at is not None:
            return super().state(row)
        if row.failure is None:
            return "parked"
        address = reverse("admin:toa_failure_change", args=[row.failure], current_app=self.admin_site.name)
        return format_html('<a href="{}">failed</a>', address)

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
        return by_identity(term, "id") | by_source(term) | by_target(term)
