"""What was measured, as text: figures beside their targets, ratios to the peers of the same run, and the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from benchmarks.harness import CLIENTS, MUCH, RATES, SLEEPERS, Figure
from benchmarks.parts import Part

PACKAGES = ("Django", "psycopg", "celery", "redis", "procrastinate", "dbos")
RATIOS = (
    ("fired, beat and two workers", "procrastinate: empty jobs, two workers", 20.0),
    ("fired, beat and two workers", "Celery: empty tasks, two children", None),
    ("fired, beat and two workers", "DBOS: workflows of one step", None),
    ("runs of one step that does nothing, started and ended", "DBOS: workflows of one step", 5.0),
    ("runs of one transition, started and ended", "DBOS: workflows of one step", None),
    (
        f"DBOS: lateness p99, {SLEEPERS} sleepers due together",
        f"lateness p99, {SLEEPERS} sleepers due together, beat and two workers",
        1.0,
    ),
    (
        f"DBOS: lateness p99, {SLEEPERS} sleepers due together",
        f"lateness p99, {SLEEPERS} sleepers due together, toa run",
        1.0,
    ),
    ("fired, one process", "by hand: psycopg, in sets", None),
    ("fired one by one", "by hand: Django, one by one", None),
    ("armed in one transition", "procrastinate: defer in bulk", None),
    (f"one keyed arm a commit, {CLIENTS} clients", f"procrastinate: keyed defer, {CLIENTS} clients", None),
    (f"procrastinate: fetch of one job, {MUCH:,} pending", f"claim of 100 due, {MUCH:,} pending", None),
    *(
        (f"{peer}: lateness p99, {rate:,} a second", f"lateness p99, {rate:,} a second, beat and two workers", 1.0)
        for peer in ("procrastinate", "Celery ETA", "DBOS sleep")
        for rate in RATES
    ),
)
"""What, beside what, and how many times as much it must be."""
BUSY = 1.0
"""A load average from which on the machine has other work to do."""


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of all benchmarks."""

    command: str
    load_before: float
    load_after: float = 0.0
    seconds: float = 0.0
    parts: list[Part] = field(default_factory=list)

    @property
    def figures(self) -> list[Figure]:
        """Of all parts, in their order."""
        return [figure for part in self.parts for figure in part.figures]


def table(figures: Sequence[Figure]) -> str:
    """Figures and ratios as a table in Markdown."""
    lines = ["| what | measured | target | met | |", "|---|---:|---:|---|---|"]
    lines += [_row(figure) for figure in (*figures, *ratios(figures))]
    return "\n".join(lines)


def ratios(figures: Sequence[Figure]) -> list[Figure]:
    """Those of which both sides were measured."""
    values = {figure.name: figure.value for figure in figures}
    return [
        Figure(name=f"{one} / {other}", value=values[one] / values[other], unit="x", least=least)
        for one, other, least in RATIOS
        if values.get(other) and one in values
    ]


def described(run: Run) -> str:
    """The whole document."""
    machine = f"{os.cpu_count()} cores ({_processor()}), {platform.system()} {platform.release()}"
    lines = [
        "# Measured",
        "",
        "Written by `make bench`; see `docs/performance.md` for how it is measured and what decides it.",
        "",
        f"- command: `{run.command}`",
        f"- when: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {run.seconds:.0f} s in all",
        f"- machine: {machine}; PostgreSQL and Valkey beside it",
        f"- versions: Python {platform.python_version()}, {', '.join(_versions())}",
        f"- load average over a minute: {run.load_before:.1f} before, {run.load_after:.1f} after",
    ]
    if run.load_before > BUSY:
        lines += [
            "",
            "**The machine was busy with other work.** Rates are lower and lateness is greater than on an idle one, and"
            " the ratios are rough. Run it again on an idle machine before relying on any of this.",
        ]
    problems = [f"- `{part.name}`: {part.problem}" for part in run.parts if part.problem]
    if problems:
        lines += ["", "Not measured, or not to the end:", "", *problems]
    pictures = ["![Lateness against rate](lateness.svg)", "", "![Cost of a claim](pending.svg)"]
    took = ", ".join(f"{part.name} {part.seconds:.0f}" for part in run.parts)
    return "\n".join([*lines, "", table(run.figures), "", *pictures, "", f"Seconds of each part: {took}.", ""])


def _row(figure: Figure) -> str:
    target = ""
    if figure.least is not None:
        target = f"at least {_number(figure.least)}"
    elif figure.most is not None:
        target = f"at most {_number(figure.most)}"
    met = {None: "", True: "yes", False: "no"}[figure.met]
    return f"| {figure.name} | {_number(figure.value)} {figure.unit} | {target} | {met} | {figure.note} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _versions() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return found


def _processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()
