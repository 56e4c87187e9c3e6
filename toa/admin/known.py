"""What is installed and what is alive: components, their pulses, processes."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import DateTimeField, Q
from django.db.models.expressions import RawSQL

from toa.admin import cells
from toa.admin.filters import ComponentFilter, PulseDueFilter
from toa.admin.listing import ReadOnlyAdmin
from toa.admin.relative import relative, span
from toa.admin.searching import by_identity
from toa.cadence.processes import ALIVE_MS
from toa.core.clock import to_moment
from toa.core.duration import format_duration
from toa.models import Component, Process, Pulse


@admin.register(Component)
class ComponentAdmin(ReadOnlyAdmin):
    list_display = ("locator", "description", "synced", "retired", "release")
    fields = (
        "locator",
        "description",
        "synced",
        "retired",
        "release",
        "digest",
        "operations_json",
        "manifest_json",
    )
    ordering = ("locator",)
    page_only = ("manifest", "operations")

    synced = cells.moment("synced_at", "synced")
    retired = cells.moment("retired_at", "retired")
    operations_json = cells.document("operations", "operations")
    manifest_json = cells.document("manifest", "manifest")


@admin.register(Pulse)
class PulseAdmin(ReadOnlyAdmin):
    list_display = ("endpoint", "name", "every", "next_due", "state")
    list_filter = (PulseDueFilter, ComponentFilter)
    fields = (
        "endpoint",
        "name",
        "identity",
        "every",
        "scope",
        "next_due",
        "state",
        "started",
        "asked",
        "cursor",
        "query_json",
        "input_json",
        "paused",
        "paused_by",
        "retired",
        "past",
    )
    ordering = ("endpoint", "name")
    page_only = ("query", "input")
    search_fields = ("id",)
    search_help_text = "Id of the pulse."

    identity = cells.identity("id", "id")
    started = cells.moment("started_at", "running since")
    asked = cells.moment("fire_at", "asked for")
    paused = cells.moment("paused_at", "paused")
    retired = cells.moment("retired_at", "retired")
    query_json = cells.document("query", "query")
    input_json = cells.document("input", "input")

    @admin.display(description="every")
    def every(self, row: Pulse) -> str:
        cycle = format_duration(row.cycle_ms)
        grid = cycle if row.intervals == 1 else f"{row.intervals} times in {cycle}"
        return cells.lines(grid, "by the settings, not the manifest") if row.overridden else grid

    @admin.display(description="next")
    def next_due(self, row: Pulse) -> str:
        # While a call runs, `wake_at` is the end of its lease.
        if row.wake_at is None or row.token is not None:
            return cells.EMPTY
        return cells.dated(row.wake_at, relative(to_moment(row.wake_at), cells.read_at(row), "late"))

    @admin.display(description="state")
    def state(self, row: Pulse) -> str:
        if row.token is not None and row.started_at is not None:
            return f"running for {span(cells.read_at(row) - to_moment(row.started_at))}"
        if row.retired_at is not None:
            return "retired"
        if row.paused_at is not None:
            return "paused"
        return "due" if row.wake_at is not None and to_moment(row.wake_at) <= cells.read_at(row) else "waiting"

    @admin.display(description="history")
    def past(self, row: Pulse) -> str:
        return cells.history_link(self.admin_site, row.id, "Calls of this pulse")

    def finding(self, term: str) -> Q:
        return by_identity(term, "id")


@admin.register(Process)
class ProcessAdmin(ReadOnlyAdmin):
    list_display = ("kind", "host", "pid", "started", "seen", "alive", "skew", "runs")
    fields = ("kind", "host", "pid", "identity", "started", "seen", "alive", "skew", "capacity", "running_calls")
    ordering = ("-seen_at", "id")

    identity = cells.identity("id", "id")
    started = cells.moment("started_at", "started")
    seen = cells.moment("seen_at", "last heartbeat")

    def now(self) -> RawSQL:
        # Heartbeats are written by the database's own clock, not by one that tests have set.
        return RawSQL("statement_timestamp()", [], output_field=DateTimeField())

    @admin.display(description="alive", boolean=True)
    def alive(self, row: Process) -> bool:
        return cells.read_at(row) - to_moment(row.seen_at) <= ALIVE_MS

    @admin.display(description="skew")
    def skew(self, row: Process) -> str:
        return span(row.skew_ms)

    @admin.display(description="running")
    def runs(self, row: Process) -> int:
        return len(row.running)

    @admin.display(description="running")
    def running_calls(self, row: Process) -> str:
        return "\n".join(call.hex for call in row.running) or cells.EMPTY
