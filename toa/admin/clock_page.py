"""The Clock page: whether all is well, who is alive, what waits and how late, what comes, what failed last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from toa.admin import cells, charts
from toa.admin.pages import PageAdmin, entry
from toa.admin.relative import relative, span
from toa.cadence.reports.backlog import Count
from toa.cadence.reports.coming import CEILING, SOURCES, Coming, Hour, coming
from toa.cadence.reports.health import PLURALS, judge
from toa.cadence.reports.lateness import LINES, Lateness, lately
from toa.cadence.reports.status import SourceStatus, Status, read
from toa.core.clock import to_datetime, to_moment
from toa.core.duration import format_duration
from toa.models import Failure, Process
from toa.runtime import clock, settings

LABELLED = 3
"""Every so many hours the chart names one."""
FAILURES = 5
"""Failures that are shown."""
SHORT = 160
"""Characters of an error that are shown."""
DRAWN = tuple(kind for kind in SOURCES if kind != "pulse")
"""Kinds that the chart shows: pulses come at the same rate in every hour, and would stand before all else."""
_QUOTED = re.compile("`([^`]*)`")

Clock = entry("Clock", "clock", "clock")


@admin.register(Clock)
class ClockAdmin(PageAdmin):
    """For those who may see which processes are alive. Failures are shown to those who may see them."""

    permission = "toa.view_process"
    template = "admin/toa/clock.html"

    class Media:
        css = {"all": ("toa/pages.css",)}

    def content(self, request: HttpRequest) -> dict[str, Any]:
        status, recent = read(), lately()
        health, ahead = judge(status), coming()
        return {
            "level": health.level.value,
            "sentence": _with_code(health.sentence),
            "problems": [(_with_code(f"{one.what}; {one.advice}."), one.level.value) for one in health.problems[1:]],
            "now": cells.local(to_datetime(status.now)),
            "zone": timezone.get_current_timezone_name(),
            "skew": format_duration(clock.skew_ms()),
            "processes": [_process(one) for one in status.processes],
            "ticked": status.ticked,
            "sources": [_source(one, status.now, recent.get(one.name)) for one in status.sources],
            "lines": f"{LINES:,}",
            "orphans": [_orphan(one, status.now) for one in status.orphans],
            "paused": status.paused,
            "next": None if status.next is None else relative(status.next, status.now, "late"),
            "chart": _chart(ahead),
            "kinds": [(kind, PLURALS[kind]) for kind in SOURCES],
            "drawn": [(kind, PLURALS[kind]) for kind in DRAWN],
            "hours": [_row(hour) for hour in ahead.hours if hour.counts],
            "total": str(_sum(ahead, DRAWN)),
            "pulses": str(_sum(ahead, ("pulse",))),
            "ceiling": f"{CEILING:,}",
            "failures": self._failures(request, status) if request.user.has_perm("toa.view_failure") else None,
            "failed": str(status.failures),
        }

    def _failures(self, request: HttpRequest, status: Status) -> list[dict[str, Any]]:
        rows = Failure.objects.using(settings.alias()).defer("traceback", "request", "row").order_by("-at", "-id")
        return [
            {
                "at": cells.dated(row.at, relative(to_moment(row.at), status.now)),
                "url": reverse("admin:toa_failure_change", args=[row.pk.hex], current_app=self.admin_site.name),
                "endpoint": row.endpoint,
                "error": Truncator(row.error).chars(SHORT),
                "entity": cells.entity_link(self.admin_site, row.entity),
            }
            for row in rows[:FAILURES]
        ]


def _chart(ahead: Coming) -> SafeString:
    drawn = [
        charts.Bar(
            label="" if number % LABELLED else cells.local(to_datetime(hour.begins)).strftime("%H:%M"),
            title=f"{_span(hour)}: {_said(hour)}",
            parts=[(kind, hour.counts[kind].number) for kind in DRAWN if kind in hour.counts],
            more=any(hour.counts[kind].more for kind in DRAWN if kind in hour.counts),
        )
        for number, hour in enumerate(ahead.hours)
    ]
    label = f"What comes due in the next 24 hours, hour by hour: {_sum(ahead, DRAWN)} in all. A table has the numbers."
    return charts.bars(drawn, label=label)


def _sum(ahead: Coming, kinds: Sequence[str]) -> Count:
    return sum((hour.counts.get(kind, Count(0)) for hour in ahead.hours for kind in kinds), Count(0))


def _row(hour: Hour) -> dict[str, Any]:
    return {"span": _span(hour), "counts": [str(hour.counts.get(kind, "-")) for kind in SOURCES]}


def _said(hour: Hour) -> str:
    parts = [f"{hour.counts[kind]} {PLURALS[kind]}" for kind in SOURCES if kind in hour.counts]
    return ", ".join(parts) or "nothing"


def _span(hour: Hour) -> str:
    return f"{cells.local(to_datetime(hour.begins)):%H:%M} to {cells.local(to_datetime(hour.ends)):%H:%M}"


def _process(process: Process) -> dict[str, Any]:
    up = to_moment(process.seen_at) - to_moment(process.started_at)
    return {
        "kind": "toa run" if process.kind == "run" else process.kind,
        "host": process.host,
        "pid": process.pid,
        "up": span(up),
        "skew": span(process.skew_ms),
        "capacity": process.capacity,
        "running": len(process.running),
    }


def _source(source: SourceStatus, now: int, made: Lateness | None) -> dict[str, Any]:
    calls = source.calls
    return {
        "kind": source.name,
        "name": PLURALS.get(source.name, f"{source.name}s"),
        "waiting": calls and str(calls.waiting),
        "late": None if source.late is None else span(max(0, now - source.late)),
        "running": calls and str(calls.running),
        "within_hour": calls and str(calls.within_hour),
        "parked": calls and str(calls.parked),
        "next": None if source.next is None else relative(source.next, now),
        "made": made and f"{span(made.median)}, {span(made.p99)}",
    }


def _orphan(one: Any, now: int) -> dict[str, Any]:
    orphan = one.orphan
    return {
        "endpoint": orphan.endpoint,
        "calls": str(one.calls),
        "oldest": relative(orphan.oldest, now),
        "fails": relative(orphan.fails_at, now),
        "reason": orphan.reason,
    }


def _with_code(sentence: str) -> SafeString:
    """A sentence with what stands between backticks as code."""
    return format_html_join("", "{}", ((part,) for part in _parts(sentence)))


def _parts(sentence: str) -> Iterator[str]:
    for number, part in enumerate(_QUOTED.split(sentence)):
        yield format_html("<code>{}</code>", part) if number % 2 else part
