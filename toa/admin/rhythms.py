"""What comes again and again: pulses and schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.utils.html import format_html, format_html_join

from toa.admin import cells, decisions
from toa.admin.deciding import ActingAdmin
from toa.admin.filters import DueFilter, PulseDueFilter, StandingComponentFilter, StandingFilter
from toa.admin.relative import relative, span
from toa.admin.searching import by_identity
from toa.cadence.reports.lately import last_of_pulses, last_of_schedules
from toa.cadence.reports.standing import coming
from toa.cadence.schedules.calls import Running, running
from toa.cadence.schedules.wording import in_words
from toa.core.clock import to_datetime, to_moment
from toa.core.duration import format_duration
from toa.exceptions import ToaError
from toa.models import Pulse, Schedule

AHEAD = 5
"""Occurrences that the page of a schedule shows."""


@admin.display(description="last outcome")
def last_outcome(_: admin.ModelAdmin[Any], row: Any) -> str:
    last = row.last
    if last is None:
        return cells.EMPTY
    what = f"{last.outcome} {last.code}".strip()
    return cells.lines(what, relative(last.at, cells.read_at(row)))


class RhythmAdmin(ActingAdmin):
    """What pulses and schedules have in common."""

    ordering = ("endpoint", "name")
    page_only = ("query", "input")
    search_fields = ("id",)

    identity = cells.identity("id", "id")
    paused = cells.moment("paused_at", "paused")
    retired = cells.moment("retired_at", "retired")
    query_json = cells.document("query", "query")
    input_json = cells.document("input", "input")
    last = last_outcome

    def held(self, row: Any) -> str | None:
        """What keeps it from being called; null where nothing does."""
        if row.retired_at is not None:
            return "retired"
        if row.paused_at is not None:
            return cells.lines("paused", f"by {row.paused_by}") if row.paused_by else "paused"
        return None

    def finding(self, term: str) -> Q:
        return by_identity(term, "id")


@admin.register(Pulse)
class PulseAdmin(RhythmAdmin):
    list_display = ("endpoint", "name", "every", "next_due", "state", "last")
    list_filter = (PulseDueFilter, StandingFilter, StandingComponentFilter)
    acts = decisions.ON_PULSES
    fields = (
        "endpoint",
        "name",
        "identity",
        "every",
        "scope",
        "next_due",
        "state",
        "last",
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
    search_help_text = "Id of the pulse."

    started = cells.moment("started_at", "running since")
    asked = cells.moment("fire_at", "asked for")

    def read_beside(self, rows: Sequence[Any]) -> None:
        last_of_pulses(rows)

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
        if (held := self.held(row)) is not None:
            return held
        return "due" if row.wake_at is not None and to_moment(row.wake_at) <= cells.read_at(row) else "waiting"

    @admin.display(description="history")
    def past(self, row: Pulse) -> str:
        return cells.history_link(self.admin_site, row.id, "Calls of this pulse")


@admin.register(Schedule)
class ScheduleAdmin(RhythmAdmin):
    list_display = ("endpoint", "name", "words", "next_due", "state", "last")
    list_filter = (DueFilter, StandingFilter, StandingComponentFilter)
    acts = decisions.ON_SCHEDULES
    fields = (
        "endpoint",
        "name",
        "identity",
        "words",
        "next_due",
        "ahead",
        "state",
        "last",
        "catch_up",
        "overlap",
        "jitter",
        "expires",
        "cursor_at",
        "query_json",
        "input_json",
        "paused",
        "paused_by",
        "retired",
        "past",
    )
    search_help_text = "Id of the schedule."

    cursor_at = cells.moment("cursor", "dealt with up to")
    expires = cells.expiry

    def read_beside(self, rows: Sequence[Any]) -> None:
        last_of_schedules(rows)
        made = running([row.id for row in rows])
        for row in rows:
            row.made = made.get(row.id, Running()).occurrences

    @admin.display(description="when")
    def words(self, row: Schedule) -> str:
        words = in_words(row.expression)
        where = row.zone if words == row.expression else f"{row.expression} in {row.zone}"
        shown = cells.lines(words, where)
        return cells.lines(shown, "by the settings, not the manifest") if row.overridden else shown

    @admin.display(description="next")
    def next_due(self, row: Schedule) -> str:
        if row.due_at is None or row.retired_at is not None or row.paused_at is not None:
            return cells.EMPTY
        return cells.dated(row.due_at, relative(to_moment(row.due_at), cells.read_at(row), "late"))

    @admin.display(description="next five")
    def ahead(self, row: Schedule) -> str:
        """On the wall of its zone, and in UTC; a pause or the end of the schedule does not count here."""
        try:
            found = list(coming(row, cells.read_at(row), AHEAD))
        except ToaError as error:
            return str(error)
        lines = (
            (one.local, f"{to_datetime(one.at):%Y-%m-%d %H:%M:%S}", f" {one.note}" if one.note else "") for one in found
        )
        return format_html_join("", '{} <span class="quiet">{} UTC{}</span><br>', lines) or "none"

    @admin.display(description="state")
    def state(self, row: Any) -> str:
        if (held := self.held(row)) is not None:
            return held
        if row.wake_at is None:
            return "stopped"
        if to_moment(row.wake_at) <= cells.read_at(row):
            return "due"
        return f"{row.made} being made" if row.made else "waiting"

    @admin.display(description="jitter")
    def jitter(self, row: Schedule) -> str:
        return span(row.jitter_ms) if row.jitter_ms else "none"

    @admin.display(description="history")
    def past(self, row: Schedule) -> str:
        links = (
            cells.list_link(self.admin_site, "scheduledcall", row.id.hex, "Calls that wait"),
            cells.list_link(self.admin_site, "history", f"schedule:{row.id.hex}", "Calls that were made"),
        )
        return format_html("{}<br>{}", *links)
