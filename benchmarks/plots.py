"""Two pictures beside the results, as SVG: lateness against rate, and the cost of a claim against what is pending."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.harness import Figure

PICTURES = {
    "lateness": ("Lateness, p99", "due a second", "ms"),
    "pending": ("Cost of a claim, median", "pending", "ms"),
}
"""File name -> title, what is across, what is upwards."""
WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 220, 40, 50
COLOURS = ("#0b6e4f", "#c1121f", "#1d4e89", "#e09f3e", "#6a4c93", "#555555")


def write(figures: Sequence[Figure], folder: Path) -> None:
    """Write each picture of which at least two points were measured."""
    for name, (title, across, upwards) in PICTURES.items():
        lines: dict[str, list[tuple[float, float]]] = {}
        for figure in figures:
            if figure.plot == name:
                # Of a scale in powers of ten, and lateness is measured in whole ms: less than a hundredth is none.
                lines.setdefault(figure.line, []).append((figure.x, max(figure.value, 0.01)))
        if sum(map(len, lines.values())) > 1:
            (folder / f"{name}.svg").write_text(picture(title, across, upwards, lines), encoding="utf-8")


def picture(title: str, across: str, upwards: str, lines: dict[str, list[tuple[float, float]]]) -> str:
    """Lines through points on two scales of powers of ten."""
    points = [point for line in lines.values() for point in line]
    least_x, most_x = _decades([x for x, _ in points])
    least_y, most_y = _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        right = (math.log10(x) - least_x) / (most_x - least_x)
        up = (math.log10(y) - least_y) / (most_y - least_y)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, TOP - 16, f"{title}, {upwards}", "start", 'font-size="14"'),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, "middle"),
    ]
    for power in range(least_x, most_x + 1):
        x, y = place(10.0**power, 10.0**least_y)
        drawn += [_rule(x, TOP, x, y), _text(x, y + 16, f"{10**power:,}", "middle")]
    for power in range(least_y, most_y + 1):
        x, y = place(10.0**least_x, 10.0**power)
        drawn += [_rule(x, y, WIDTH - RIGHT, y), _text(x - 6, y + 4, f"{10.0**power:,g}", "end")]
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        placed = [place(*point) for point in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in placed]
        drawn.append(_text(WIDTH - RIGHT + 16, TOP + 16 + 20 * number, name, "start", f'fill="{colour}"'))
    return "\n".join([*drawn, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    least, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return least, max(most, least + 1)


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'


def _rule(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="#dddddd"/>'
