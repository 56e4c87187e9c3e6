"""The journal of a run as a table: one line for each step, and one for the step that it waits for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast, Left
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from toa.admin import cells
from toa.admin.relative import relative
from toa.core.clock import to_datetime, to_moment
from toa.models import EndedRun, Run, RunStep
from toa.runtime import settings

LAST = 200
"""Steps that a page shows, the last ones: a journal may have thousands."""
SHORT = 120
"""Characters of a value that are shown."""

_HEADINGS = ("step", "kind", "name", "outcome", "when", "value")
_LINE = "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>"
_HEAD = format_html(
    "<thead><tr>{}</tr></thead>", format_html_join("", '<th scope="col">{}</th>', ((one,) for one in _HEADINGS))
)


def of_live(run: Run, now: int) -> SafeString:
    """The steps of a run on its way; `now` is when it was read, epoch ms."""
    # Of a value no more than the page shows leaves the database: it may have a quarter of a megabyte.
    stored = RunStep.objects.using(settings.alias()).filter(run=run.pk).order_by("-position")
    found = stored.annotate(text=Left(Cast("value", TextField()), SHORT + 1)).values_list(
        "position", "kind", "name", "outcome", "at", "text"
    )[:LAST]
    lines: list[tuple[Any, ...]] = [
        (position, kind, name, outcome, _when(at, now), _short(text))
        for position, kind, name, outcome, at, text in reversed(found)
    ]
    waits = run.waits
    if waits is not None:
        until = waits.get("until")
        when = cells.EMPTY if until is None else _when(to_datetime(until), now)
        lines.append((waits["position"], waits["kind"], waits["name"], "waits", when, ""))
    return _table(lines, run.steps - len(found))


def of_ended(run: EndedRun) -> SafeString:
    """The steps of a run as they were at its end."""
    now = cells.read_at(run)
    lines = [
        (
            step["position"],
            step["kind"],
            step["name"],
            step["outcome"],
            cells.EMPTY if step["at"] is None else _when(to_datetime(step["at"]), now),
            "" if step["value"] is None else _short(json.dumps(step["value"], ensure_ascii=False)),
        )
        for step in run.steps[-LAST:]
    ]
    return _table(lines, len(run.steps) - len(lines))


def _table(lines: Iterable[tuple[Any, ...]], before: int) -> SafeString:
    body = format_html_join("", _LINE, lines)
    if not body:
        return format_html("none yet")
    table = format_html('<div class="toa-journal"><table>{}<tbody>{}</tbody></table></div>', _HEAD, body)
    return table if before <= 0 else format_html("<p>The last {} steps; {} before them.</p>{}", LAST, before, table)


def _when(at: datetime, now: int) -> SafeString:
    return cells.dated(at, relative(to_moment(at), now))


def _short(text: str | None) -> str:
    return Truncator(text or "").chars(SHORT)
