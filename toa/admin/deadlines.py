"""Every pending deadline of every component in one list, read from the rows of the components themselves."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from toa.admin import cells
from toa.admin.listing import AFTER, BEFORE
from toa.admin.pages import PageAdmin, entry, links
from toa.admin.relative import relative
from toa.admin.searching import named
from toa.cadence.deadlines.due import components
from toa.cadence.reports.pending import Page, PendingDeadline, of_instance, pending
from toa.core.clock import to_datetime
from toa.core.duration import HOUR_MS
from toa.exceptions import InvalidQuery
from toa.runtime import clock

SIZE = 100
"""Deadlines on a page."""

Deadline = entry("Deadline", "deadline", "deadlines")


@admin.register(Deadline)
class DeadlineAdmin(PageAdmin):
    """In order of the moment at which their instances are looked at next."""

    permission = "toa.view_component"
    template = "admin/toa/deadlines.html"

    def content(self, request: HttpRequest) -> dict[str, Any]:
        now = clock.clock().now()
        known = [(one.locator, one.locator) for one in components()]
        page = _read(request, now, {locator for locator, _ in known})
        return {
            "rows": [self._row(one, now) for one in page.deadlines],
            "term": request.GET.get("q", ""),
            "kept": [(name, request.GET[name]) for name in ("due", "component") if name in request.GET],
            "filters": [
                {"title": "due", "choices": links(request, "due", _DUE, (AFTER, BEFORE))},
                {"title": "component", "choices": links(request, "component", known, (AFTER, BEFORE))},
            ],
            "first": page.before and _address(request),
            "previous": page.before and _address(request, **{BEFORE: page.before}),
            "next": page.after and _address(request, **{AFTER: page.after}),
        }

    def _row(self, one: PendingDeadline, now: int) -> dict[str, Any]:
        return {
            "entity": cells.entity_link(self.admin_site, f"{one.component}:{one.id}"),
            "property": one.property or cells.EMPTY,
            "due": cells.EMPTY if one.moment is None else _dated(one.moment, now, "late"),
            "state": one.state or ("held" if one.held else "due" if one.at <= now else "waiting"),
            "next_look": _dated(one.at, now, "ago") if one.held else cells.EMPTY,
        }


_DUE = (("overdue", "Overdue"), ("hour", "In the next hour"))


def _read(request: HttpRequest, now: int, known: set[str]) -> Page:
    """What was asked for; a filter or a mark that does not hold is passed over."""
    term = request.GET.get("q", "").strip()
    if term:
        return Page(deadlines=_found(term), after=None)
    component = request.GET.get("component")
    due = request.GET.get("due")
    asked: dict[str, Any] = {
        "component": component if component in known else None,
        "since": now if due == "hour" else None,
        "until": {"overdue": now, "hour": now + HOUR_MS}.get(due or ""),
        "limit": SIZE,
    }
    try:
        return pending(**asked, after=request.GET.get(AFTER), before=request.GET.get(BEFORE))
    except InvalidQuery:
        return pending(**asked)


def _found(term: str) -> tuple[PendingDeadline, ...]:
    locators, ids = named(term)
    # The last spelling is the one that rows have.
    found = (of_instance(locator, ids[-1]) for locator in locators)
    return tuple(one for one in found if one is not None)


def _dated(moment: int, now: int, past: str) -> str:
    return cells.dated(to_datetime(moment), relative(moment, now, past))


def _address(request: HttpRequest, **mark: str) -> str:
    query = request.GET.copy()
    for name in (AFTER, BEFORE):
        query.pop(name, None)
    query.update(mark)
    return f"?{query.urlencode()}"
