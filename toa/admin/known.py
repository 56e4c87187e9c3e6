"""What is installed and what is alive: components, processes, locks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import DateTimeField, Q
from django.db.models.expressions import RawSQL
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from toa.admin import cells
from toa.admin.listing import ReadOnlyAdmin
from toa.admin.relative import span
from toa.admin.searching import by_identity
from toa.cadence.processes import ALIVE_MS
from toa.cadence.syncing import mark_of
from toa.core.clock import to_moment
from toa.manifests import registry
from toa.manifests.problems import Problem
from toa.models import Component, Lock, Process, Pulse, Schedule
from toa.runtime import settings


@admin.register(Component)
class ComponentAdmin(ReadOnlyAdmin):
    list_display = ("locator", "description", "synced", "problem_count", "retired", "release")
    fields = (
        "locator",
        "description",
        "problems",
        "cadence",
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

    def read_beside(self, rows: Sequence[Any]) -> None:
        everything = registry.problems()
        for row in rows:
            row.found = _problems(row, everything)

    @admin.display(description="problems")
    def problem_count(self, row: Any) -> str:
        return str(len(row.found)) if row.found else cells.EMPTY

    @admin.display(description="problems")
    def problems(self, row: Any) -> str:
        return cells.preformatted("\n".join(row.found)) if row.found else "none"

    @admin.display(description="cadence")
    def cadence(self, row: Component) -> str:
        """Its pulses and schedules, and which of them the settings have changed."""
        found = [one for model in (Pulse, Schedule) for one in self._of(model, row.locator)]
        return format_html_join("", "{}", ((one,) for one in found)) or cells.EMPTY

    def _of(self, model: type[Any], locator: str) -> Sequence[str]:
        rows = model.objects.using(settings.alias()).filter(endpoint__startswith=f"{locator}.", retired_at=None)
        name = model._meta.model_name
        return [
            format_html(
                '<a href="{}">{} {}</a>{}<br>',
                reverse(f"admin:toa_{name}_change", args=[one.pk], current_app=self.admin_site.name),
                name,
                one,
                ", by the settings, not the manifest" if one.overridden else "",
            )
            for one in rows
        ]


def _problems(row: Component, everything: Iterable[Problem]) -> list[str]:
    """What is wrong with the manifest as this process reads it, and whether it is the one that was synced."""
    spec = registry.all().get(row.locator)
    if spec is None:
        return [] if row.retired_at else ["The code of this process has no such component."]
    found = [str(one) for one in everything if one.path == spec.path]
    if mark_of(spec) != row.digest:
        found.append("The manifest of this process is not the one that was synced: run migrate, or toa sync.")
    return found


@admin.register(Process)
class ProcessAdmin(ReadOnlyAdmin):
    list_display = ("kind", "host", "pid", "started", "seen", "alive", "skew", "runs")
    fields = ("kind", "host", "pid", "identity", "started", "seen", "alive", "skew", "capacity", "running_calls")
    ordering = ("-seen_at", "-id")

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


@admin.register(Lock)
class LockAdmin(ReadOnlyAdmin):
    """Locks that effects hold while they create something outside."""

    list_display = ("key", "holder", "taken", "lapses")
    fields = ("key", "holder", "taken", "lapses", "held_by")
    ordering = ("key",)
    search_fields = ("key", "token")
    search_help_text = "Key of the lock (store.orders:…), or the token of its holder."

    taken = cells.moment("taken_at", "taken")
    lapses = cells.moment("until", "lapses")
    held_by = cells.identity("token", "token")

    def finding(self, term: str) -> Q:
        return Q(key=term) | by_identity(term, "token")
