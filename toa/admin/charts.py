"""Bars as an SVG drawn on the server: no script, no outside host, colours from the style sheet.

Positions across are in percent and sizes of text in pixels, so that a chart fills a wide page and a narrow one alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

HEIGHT, TOP, FOOT = 190, 22, 22
"""Of the whole, of what is kept free for figures above the bars, and for labels below; in pixels."""
GAP = 0.18
"""Between two bars, as a share of the place of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: parts of a kind each, stacked, the first at the bottom."""

    label: str
    """Below it; empty for none."""
    title: str
    """What is said of it when it is pointed at."""
    parts: Sequence[tuple[str, int]]
    """Kind, which is a class of the style sheet, and number."""
    more: bool
    """Whether counting ended before the end: the bar is drawn as one that goes on."""

    @property
    def total(self) -> int:
        return sum(number for _, number in self.parts)


def bars(drawn: Sequence[Bar], *, label: str) -> SafeString:
    """The chart; `label` says in words what it shows. The numbers belong into a table beside it."""
    most = max((bar.total for bar in drawn), default=0) or 1
    place = 100 / max(1, len(drawn))
    return format_html(
        '<svg class="toa-chart" role="img" aria-label="{}" width="100%" height="{}">{}{}</svg>',
        label,
        HEIGHT,
        _lines(most),
        format_html_join("", "{}", ((_bar(bar, number * place, place, most),) for number, bar in enumerate(drawn))),
    )


def _bar(bar: Bar, left: float, place: float, most: int) -> SafeString:
    height = HEIGHT - TOP - FOOT
    parts, bottom = [], float(HEIGHT - FOOT)
    for kind, number in bar.parts:
        # What is there can be seen, however little it is beside the greatest.
        size = max(2.0, number * height / most)
        bottom -= size
        parts.append(
            (_percent(left + place * GAP / 2), f"{bottom:.1f}", _percent(place * (1 - GAP)), f"{size:.1f}", kind)
        )
    rects = format_html_join("", '<rect x="{}" y="{}" width="{}" height="{}" class="toa-{}"/>', parts)
    text = format_html(
        '<text x="{}" y="{}">{}</text>', _percent(left + place / 2), HEIGHT - 6, bar.label
    ) if bar.label else ""  # fmt: skip
    above = format_html(
        '<text x="{}" y="{}">+</text>', _percent(left + place / 2), f"{max(12.0, bottom - 4):.1f}"
    ) if bar.more else ""  # fmt: skip
    return format_html("<g><title>{}</title>{}{}{}</g>", bar.title, rects, above, text)


def _lines(most: int) -> SafeString:
    """The ground, the top, and how much the top is."""
    ground = HEIGHT - FOOT
    return format_html(
        '<line x1="0" x2="100%" y1="{0}" y2="{0}"/><line class="toa-top" x1="0" x2="100%" y1="{1}" y2="{1}"/>'
        '<text class="toa-most" x="0" y="{2}">{3}</text>',
        ground,
        TOP,
        TOP - 6,
        f"{most:,}",
    )


def _percent(value: float) -> str:
    return f"{value:.3f}%"
