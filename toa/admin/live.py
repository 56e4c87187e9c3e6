"""Calls that are still to be made: delays and deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import Truncator

from toa.admin import cells, decisions
from toa.admin.deciding import ActingAdmin
from toa.admin.filters import (
    ComponentFilter,
    DueFilter,
    EndpointFilter,
    endpoints_of,
)
from toa.admin.listing import now_expression
from toa.admin.relative import relative
from toa.admin.searching import by_entity, by_identity
from toa.cadence.calls import endpoints
from toa.cadence.schedules.due import SCHEDULES
from toa.core.clock import to_moment
from toa.core.duration import HOUR_MS, MINUTE_MS
from toa.models import Delay, ScheduledCall

SHORT = 100
"""Characters of an error in a list."""
BACK_OFF_MS = MINUTE_MS
"""Longer than the longest wait for another try: what is due and not running is looked at again before that."""


class LiveAdmin(ActingAdmin):
    """What lists of stored calls and of runs show, what is most overdue first."""

    ordering = ("due_at", "id")
    list_filter: ClassVar[Any] = (DueFilter, ComponentFilter, EndpointFilter)
    page_only: tuple[str, ...] = ("request", "chain")

    due = cells.moment("due_at", "due", past="late")
    next_look = cells.moment("wake_at", "next look")
    created = cells.moment("created_at", "stored")
    call = cells.identity("id", "id")
    lease = cells.identity("token", "lease")
    request_json = cells.document("request", "request")
    cause_json = cells.document("cause", "cause")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        # The calls of one endpoint have an index of their own, by the moment they are looked at next.
        led = {EndpointFilter.parameter_name, ComponentFilter.parameter_name} & request.GET.keys()
        return ("wake_at", "id") if led else self.ordering

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        named = endpoints_of(chosen)
        if named is None:
            return [rows]
        due = chosen.get(DueFilter.parameter_name)
        return [part for one in named for part in _of_endpoint(rows.filter(endpoint=one), due)]

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
        if not row.attempt:
            return "handed out"
        after = f", after {Truncator(row.error).chars(SHORT)}" if row.error else ""
        return cells.lines("waiting", f"next try {relative(wake, now)}{after}")

    @admin.display(description="attempts")
    def attempts(self, row: Any) -> str:
        if not row.strikes:
            return str(row.attempt)
        return cells.lines(row.attempt, "1 strike" if row.strikes == 1 else f"{row.strikes} strikes")

    @admin.display(description="chain")
    def hops(self, row: Any) -> str:
        return "\n".join(row.chain) or cells.EMPTY


def _of_endpoint(rows: QuerySet[Any], due: str | None) -> list[QuerySet[Any]]:
    """The rows of one endpoint by the bounds of their `wake_at` too: its index has that, and not `due_at`."""
    now = now_expression()
    match due:
        case "overdue":
            soon = now + timedelta(milliseconds=BACK_OFF_MS)
            return [rows.filter(wake_at__lte=soon), rows.filter(wake_at__gt=soon, token__isnull=False)]
        case "hour":
            return [rows.filter(wake_at__gt=now, wake_at__lte=now + timedelta(milliseconds=HOUR_MS))]
    return [rows]


@admin.register(Delay)
class DelayAdmin(LiveAdmin):
    acts = (decisions.CANCEL, decisions.MOVE, decisions.FIRE)
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
        "error",
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
    overdue = cells.expiry

    @admin.display(description="endpoint")
    def called(self, row: Delay) -> str:
        return cells.called(row.endpoint, row.cause, row.name)

    def finding(self, term: str) -> Q:
        return by_identity(term, "id") | by_entity(term)


@admin.register(ScheduledCall)
class ScheduledCallAdmin(LiveAdmin):
    list_display = ("endpoint", "due", "state", "attempts", "of_schedule", "about")
    fields = (
        "endpoint",
        "call",
        "of_schedule",
        "occurrence",
        "due",
        "state",
        "next_look",
        "overdue",
        "attempt",
        "error",
        "strikes",
        "about",
        "beside",
        "made_up",
        "request_json",
        "cause_json",
        "created",
        "lease",
    )
    search_fields = ("id", "schedule")
    search_help_text = "Id of the call, or of its schedule."

    occurrence = cells.moment("at", "occurrence")
    about = cells.entity("entity", "entity")
    overdue = cells.expiry

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("wake_at", "id")  # no index has all of them by the moment they are due

    def parts(self, rows: QuerySet[Any], chosen: Mapping[str, str]) -> Sequence[QuerySet[Any]]:
        if SEARCH_VAR in chosen or endpoints_of(chosen) is not None:
            return super().parts(rows, chosen)
        due = chosen.get(DueFilter.parameter_name)
        stored = endpoints.stored(SCHEDULES.kind)
        return [part for one in stored for part in _of_endpoint(rows.filter(endpoint=one), due)]

    @admin.display(description="schedule")
    def of_schedule(self, row: ScheduledCall) -> str:
        return cells.row_link(self.admin_site, "schedule", row.schedule, row.schedule.hex)

    def finding(self, term: str) -> Q:
        return by_identity(term, "id", "schedule")
