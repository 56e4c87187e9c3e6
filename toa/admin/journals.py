"""The journal of a run as a table: one line for each step, and one for the step that it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from toa.admin import cells
from toa.admin.relative import relative
from toa.core.clock import to_datetime, to_moment
from toa.models import EndedRun, Run
from toa.workflow import journals
from toa.workflow.journals import GREATEST_POSITION, Sketch

LAST = 200
"""Steps that a page shows: a journal may have thousands."""
BEFORE = "before"
"""The parameter of an address that says before which step the shown ones end."""
SHORT = 120
"""Characters of a value that are shown."""

_HEADINGS = ("step", "kind", "name", "outcome", "when", "value")
_LINE = "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>"
_HEAD = format_html(
    "<thead><tr>{}</tr></thead>", format_html_join("", '<th scope="col">{}</th>', ((one,) for one in _HEADINGS))
)


def read_before(text: str) -> int | None:
    """The position that an address names; null for what is none."""
    return int(text) if text.isascii() and text.isdecimal() and int(text) <= GREATEST_POSITION else None


def of_live(run: Run, now: int, before: int | None) -> SafeString:
    """Steps of a run on its way: the last ones, or the last ones before a position. `now` is when it was read,
    epoch ms."""
    found = journals.last(run, LAST, shown=SHORT + 1, before=before)
    lines = [_line(step, now) for step in found]
    waits = run.waits
    if waits is not None and before is None:
        until = waits.get("until")
        when = cells.EMPTY if until is None else _when(to_datetime(until), now)
        lines.append((waits["position"], waits["kind"], waits["name"], "waits", when, ""))
    return _table(lines, found, before)


def of_ended(run: EndedRun, before: int | None) -> SafeString:
    """Steps of a run as they were at its end: the last ones, or the last ones before a position."""
    found = journals.last(run, LAST, shown=SHORT + 1, before=before)
    return _table([_line(step, cells.read_at(run)) for step in found], found, before)


def _line(step: Sketch, now: int) -> tuple[Any, ...]:
    when = _when(to_datetime(step.at), now)
    value = Truncator(step.note or step.text).chars(SHORT)
    return step.position, step.kind, step.name, step.outcome, when, value


def _table(lines: Sequence[tuple[Any, ...]], found: Sequence[Sketch], before: int | None) -> SafeString:
    if not lines and before is None:
        return mark_safe("none")
    table = format_html(
        '<div class="toa-journal"><table>{}<tbody>{}</tbody></table></div>', _HEAD, format_html_join("", _LINE, lines)
    )
    links = []
    if len(found) == LAST and found[0].position > 0:
        links.append((f"?{BEFORE}={found[0].position}", f"{found[0].position:,} steps before these"))
    if before is not None:
        links.append(("?", "The last steps"))
    if not links:
        return table
    return format_html('<p class="toa-steps">{}</p>{}', format_html_join(" · ", '<a href="{}">{}</a>', links), table)


def _when(at: datetime, now: int) -> SafeString:
    return cells.dated(at, relative(to_moment(at), now))
