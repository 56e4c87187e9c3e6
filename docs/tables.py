"""Writes the tables of the documentation that the code itself answers.

`python docs/tables.py` writes them; a test holds the committed ones to what the code says today.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from toa.core.recurrence import Schedule  # noqa: E402
from toa.core.stretch import Fold, Gap  # noqa: E402
from toa.core.zones import first_change, load_zone  # noqa: E402

RECURRENCE = HERE / "recurrence-table.md"

_SHOWN = 9


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule of the table, in the zone of its example."""

    expression: str
    gap: Gap = "end"
    fold: Fold = "first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A change of the clocks in a zone, looked up on a day, and the schedules to show around it."""

    title: str
    zone: str
    day: str
    hours: int
    rows: tuple[Row, ...]


_STEPPED = (Row("0 * * * *"), Row("*/30 * * * *"), Row("0 */2 * * *"))

EXAMPLES = (
    Example(
        title="Forward by an hour",
        zone="America/New_York",
        day="2026-03-08",
        hours=2,
        rows=(
            Row("30 2 * * *"),
            Row("30 2 * * *", gap="shift"),
            Row("30 2 * * *", gap="skip"),
            Row("15,45 2 * * *"),
            Row("15,45 2 * * *", gap="shift"),
            Row("* 2 * * *"),
            Row("0 2,3 * * *"),
            Row("0 0-23 * * *"),
            *_STEPPED,
        ),
    ),
    Example(
        title="Back by an hour",
        zone="America/New_York",
        day="2026-11-01",
        hours=2,
        rows=(
            Row("30 1 * * *"),
            Row("30 1 * * *", fold="both"),
            Row("15,45 1 * * *"),
            Row("* 1 * * *"),
            Row("0 1,2 * * *"),
            Row("0 0-23 * * *"),
            *_STEPPED,
        ),
    ),
    Example(
        title="Forward at midnight",
        zone="America/Santiago",
        day="2026-09-06",
        hours=2,
        rows=(Row("0 0 * * *"), Row("0 0 6 9 *"), Row("30 0 * * sun"), Row("0 * * * *")),
    ),
    Example(
        title="Forward before midnight",
        zone="America/Nuuk",
        day="2026-03-29",
        hours=2,
        rows=(
            Row("30 23 * * *"),
            Row("30 23 * * sat"),
            Row("30 23 * * *", gap="shift"),
            Row("0 0 * * *"),
            Row("0 23,0 * * *"),
            Row("0 * * * *"),
        ),
    ),
    Example(
        title="Forward by half an hour",
        zone="Australia/Lord_Howe",
        day="2026-10-03",
        hours=2,
        rows=(Row("15 2 * * *"), Row("0 2 * * *"), Row("45 2 * * *"), *_STEPPED[:2]),
    ),
    Example(
        title="Back by half an hour",
        zone="Australia/Lord_Howe",
        day="2026-04-04",
        hours=2,
        rows=(Row("45 1 * * *"), Row("45 1 * * *", fold="both"), Row("0 2 * * *"), *_STEPPED[:2]),
    ),
    Example(
        title="Forward by two hours",
        zone="Antarctica/Troll",
        day="2026-03-29",
        hours=3,
        rows=(Row("30 1 * * *"), Row("0 1,2 * * *"), *_STEPPED),
    ),
    Example(
        title="A day left out",
        zone="Pacific/Apia",
        day="2011-12-30",
        hours=26,
        rows=(
            Row("0 9 * * *"),
            Row("0 9 30 12 *"),
            Row("0 9 30 12 *", gap="shift"),
            Row("0 9,17 30 12 *"),
            Row("0 9 * * *", gap="skip"),
            Row("0 */12 * * *"),
        ),
    ),
    Example(
        title="A day lived twice",
        zone="Pacific/Kwajalein",
        day="1969-09-30",
        hours=26,
        rows=(Row("0 9 * * *"), Row("0 9 * * *", fold="both"), Row("0 */12 * * *")),
    ),
)


def recurrence_table() -> str:
    """What schedules do at each kind of change, as MyST Markdown."""
    lines = ["<!-- Written by docs/tables.py: edit that, not this. -->", ""]
    for example in EXAMPLES:
        lines.extend(_section(example))
    return "\n".join(lines)


def _section(example: Example) -> Iterator[str]:
    noon = datetime.fromisoformat(example.day).replace(tzinfo=UTC) + timedelta(hours=12)
    around = int(noon.timestamp())
    change = first_change(example.zone, around - 86_400, around + 86_400)
    if change is None:
        raise SystemExit(f"{example.zone} has no change about {example.day}: the time zone data is another")
    was, becomes = (
        datetime.fromtimestamp(change.at + offset, UTC).strftime("%-d %B %Y, %H:%M")
        for offset in (change.before, change.after)
    )
    yield f"**{example.title}.** {example.zone}: {was} becomes {becomes}."
    yield ""
    yield f"| Schedule | Ticks within {example.hours} hours of the change: local time (UTC) |"
    yield "|---|---|"
    for row in example.rows:
        schedule = Schedule(row.expression, example.zone, gap=row.gap, fold=row.fold)
        options = "" if row.gap == "end" else f", `gap: {row.gap}`"
        options += "" if row.fold == "first" else f", `fold: {row.fold}`"
        reach = example.hours * 3600
        after, until = (change.at - reach) * 1000 - 1, (change.at + reach) * 1000
        yield f"| `{row.expression}`{options} | {_shown(schedule, after, until)} |"
    yield ""


def _shown(schedule: Schedule, after: int, until: int) -> str:
    span = schedule.missed(after, until)
    if span is None:
        return "none"
    ticks = schedule.occurrences(after, until, _SHOWN)
    texts = [_moment(tick, schedule.zone) for tick in ticks]
    if span.count > _SHOWN:
        texts = [*texts[:3], f"… {span.count} in all …", _moment(span.last, schedule.zone)]
    return "<br>".join(texts)


def _moment(tick: int, zone: str) -> str:
    moment = datetime.fromtimestamp(tick // 1000, UTC)
    local = moment.astimezone(load_zone(zone))
    return f"{local.strftime('%-d %b %H:%M')} ({moment.strftime('%H:%M')})"


if __name__ == "__main__":
    RECURRENCE.write_text(recurrence_table(), encoding="utf-8")
