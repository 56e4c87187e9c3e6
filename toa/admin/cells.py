"""What stands in a column of a list or in a line of an object's page. Values from rows are escaped."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from toa.admin.relative import relative
from toa.core.clock import to_moment
from toa.core.duration import format_duration
from toa.manifests import registry
from toa.runtime import bindings

Cell = Callable[[Any, Any], str]
"""A method of an admin class that takes a row."""

EMPTY = "-"


def moment(field: str, title: str, *, past: str = "ago") -> Cell:
    """A date with its distance to now below it; `past` is the word for what is over."""

    @admin.display(description=title)
    def cell(_: admin.ModelAdmin[Any], row: Any) -> str:
        value = getattr(row, field)
        return EMPTY if value is None else dated(value, relative(to_moment(value), read_at(row), past))

    return cell


def document(field: str, title: str) -> Cell:
    """A JSON column, indented."""

    @admin.display(description=title)
    def cell(_: admin.ModelAdmin[Any], row: Any) -> str:
        value = getattr(row, field)
        return EMPTY if value is None else preformatted(json.dumps(value, indent=2, ensure_ascii=False))

    return cell


def text(field: str, title: str) -> Cell:
    """A long text as it is, its lines kept."""

    @admin.display(description=title)
    def cell(_: admin.ModelAdmin[Any], row: Any) -> str:
        value = getattr(row, field)
        return preformatted(value) if value else EMPTY

    return cell


def identity(field: str, title: str) -> Cell:
    """A UUID in 32 hex digits, as logs and replies show it."""

    @admin.display(description=title)
    def cell(_: admin.ModelAdmin[Any], row: Any) -> str:
        value = getattr(row, field)
        return EMPTY if value is None else str(value.hex)

    return cell


def entity(field: str, title: str) -> Cell:
    """An entity written as `component:id`, leading to its own page where it has one."""

    @admin.display(description=title)
    def cell(of: admin.ModelAdmin[Any], row: Any) -> str:
        return entity_link(of.admin_site, getattr(row, field))

    return cell


def read_at(row: Any) -> int:
    """The moment the row was read, in epoch ms."""
    return to_moment(row.read_at)


def dated(value: datetime, beside: str) -> SafeString:
    """A date in the zone of the site, with a few words below it; the exact moment shows when pointed at."""
    here = local(value)
    date = format_html(
        '<time class="nowrap" datetime="{}" title="{}">{}</time>',
        here.isoformat(timespec="milliseconds"),
        here.isoformat(" ", timespec="milliseconds"),
        here.replace(tzinfo=None).isoformat(" ", timespec="seconds"),
    )
    return lines(date, unbroken(beside))


def local(value: datetime) -> datetime:
    """A moment on the clocks of the site's zone."""
    try:
        return timezone.localtime(value)
    except OverflowError:
        return value  # the last hours of the year 9999 exist in some zones only


@admin.display(description="expires")
def expiry(_: admin.ModelAdmin[Any], row: Any) -> str:
    """How late a call may begin."""
    if row.overdue_ms is None:
        return "never, however late"
    return f"when it is {format_duration(row.overdue_ms)} late"


def called(endpoint: str, cause: Any, name: str | None = None) -> str:
    """An endpoint and, below it, which one had it called, and under which name."""
    by = cause.get("endpoint") if isinstance(cause, dict) else None
    if not isinstance(by, str) or not by:
        return endpoint
    return lines(endpoint, f"by {by} as {name}" if name else f"by {by}")


def unbroken(words: str) -> SafeString:
    """A few words that stay on one line."""
    return format_html('<span class="nowrap">{}</span>', words)


def lines(first: Any, second: Any) -> SafeString:
    """Two lines, the second one quiet."""
    return format_html('{}<br><span class="quiet">{}</span>', first, second)


def preformatted(value: str) -> SafeString:
    return format_html('<pre class="literal-block">{}</pre>', value)


def entity_link(site: admin.AdminSite, name: str, *, above: str | None = None) -> str:
    """`component:id` in two lines, as a link unless this code does not know the component or shows no page of it.

    `above` stands in place of the component.
    """
    locator, _, key = name.partition(":")
    if not key:
        return name or EMPTY
    shown = format_html('{}<br><span class="small">{}</span>', above or f"{locator}:", key)
    if locator == "run":  # what an effect of a run is about
        return row_link(site, "run", key, shown)
    model = _model(locator)
    if model is None or not site.is_registered(model):
        return shown
    address = reverse(
        f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[quote(key)], current_app=site.name
    )
    return format_html('<a href="{}">{}</a>', address, shown)


def history_link(site: admin.AdminSite, call: Any, words: str) -> SafeString:
    """A link to the lines of history about a call."""
    return list_link(site, "history", call.hex, words)


def list_link(site: admin.AdminSite, name: str, term: str, words: str) -> SafeString:
    """A link to the list of one of toa's tables, searched for a term."""
    address = reverse(f"admin:toa_{name}_changelist", current_app=site.name, query={"q": term})
    return format_html('<a href="{}">{}</a>', address, words)


def row_link(site: admin.AdminSite, name: str, key: Any, words: Any) -> SafeString:
    """A link to the page of a row of one of toa's tables."""
    address = reverse(f"admin:toa_{name}_change", args=[key], current_app=site.name)
    return format_html('<a href="{}">{}</a>', address, words)


def _model(locator: str) -> type[Model] | None:
    spec = registry.all().get(locator)
    return None if spec is None or spec.entity is None else bindings.component(locator).table.model
