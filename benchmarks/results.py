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
    ("fired, one process", "by hand: psycopg, in sets", None),
    ("fired one by one", "by hand: Django, one by one", None),
    ("armed in one transition", "procrastinate: defer in bulk", None),
    (f"one keyed arm a commit, {CLIENTS} clients", f"procrastinate: keyed defer, {CLIENTS} clients", None),
    (f"claim of 100 due, {MUCH:,} pending", f"procrastinate: fetch of one job, {MUCH:,} pending", None),
    *(
        (
            f"lateness p99, {SLEEPERS} sleepers due together, {who}",
            f"DBOS: lateness p99, {SLEEPERS} sleepers due together",
            1.0,
        )
        for who in ("beat and two workers", "toa run")
    ),
    *(
        (f"lateness p99, {rate:,} a second, beat and two workers", f"{peer}: lateness p99, {rate:,} a second", 1.0)
        for rate in RATES
        for peer in ("procrastinate", "Celery ETA", "DBOS sleep")
    ),
)
"""What of toa, beside what, and how many times as good it must be."""
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


def parts(run: Run) -> str:
    """What each part measured, as tables in Markdown."""
    lines = []
    for part in run.parts:
        if part.figures:
            lines += [f"### {part.title}", "", "| what | measured | target | met | |", "|---|---:|---:|---|---|"]
            lines += [*map(_row, part.figures), ""]
    return "\n".join(lines)


def ratios(figures: Sequence[Figure]) -> str:
    """Those of which both sides were measured, as a table in Markdown."""
    found = {figure.name: figure for figure in figures}
    lines = [
        "| toa | measured | beside | measured | times as good | target | met |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for ours, theirs, least in RATIOS:
        if ours in found and theirs in found:
            one, other = found[ours], found[theirs]
            ratio = _ratio(one, other, least)
            cells = (ours, _measured(one), theirs, _measured(other), _measured(ratio), _target(ratio), _met(ratio))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def described(run: Run) -> str:
    """The whole document."""
    machine = f"{os.cpu_count()} cores ({_processor()}), {platform.system()} {platform.release()}"
    lines = [
        "# Measured",
        "",
        "Written by `make bench`. [Performance](../docs/performance.md) says how it is measured and what decides it.",
        "",
        f"- command: `{run.command}`",
        f"- when: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {run.seconds:.0f} s in all",
        f"- machine: {machine}; PostgreSQL and Valkey beside it",
        f"- versions: Python {platform.python_version()}, {', '.join(_versions())}",
        f"- load average over a minute: {run.load_before:.1f} before, {run.load_after:.1f} after",
        "",
    ]
    if run.load_before > BUSY:
        lines += [
            "**The machine was busy with other work.** Rates are lower and lateness is greater than on an idle one, and"
            " the ratios are rough. Run it again on an idle machine before relying on any of this.",
            "",
        ]
    problems = [f"- `{part.name}`: {part.problem}" for part in run.parts if part.problem]
    if problems:
        lines += ["Not measured, or not to the end:", "", *problems, ""]
    lines += [*_summary(run.figures), "## Beside others", "", _BESIDE, "", ratios(run.figures), ""]
    lines += ["![Lateness against rate](lateness.svg)", "", "![Cost of a claim](pending.svg)", ""]
    lines += ["## Each part", "", parts(run), "## Time", ""]
    lines += ["| part | took |", "|---|---|", *(f"| `{part.name}` | {part.took} |" for part in run.parts), ""]
    return "\n".join(lines)


_BESIDE = (
    "Both sides in the same run, on the same servers. How many times as good: of a rate, how many times as much; of a"
    " time, how many times as short. Jobs and tasks of the others are empty; toa's calls change a row and its history."
)


def _summary(figures: Sequence[Figure]) -> list[str]:
    """How many targets are met, and which are not."""
    found = {figure.name: figure for figure in figures}
    ratios = [
        _ratio(found[ours], found[theirs], least) for ours, theirs, least in RATIOS if {ours, theirs} <= found.keys()
    ]
    aimed = [figure for figure in (*figures, *ratios) if figure.met is not None]
    missed = [figure for figure in aimed if not figure.met]
    lines = [f"Of {len(aimed)} targets {len(aimed) - len(missed)} are met{'; missed:' if missed else '.'}", ""]
    lines += [f"- {figure.name}: {_measured(figure)}, {_target(figure)}" for figure in missed]
    return [*lines, ""] if missed else lines


def _ratio(ours: Figure, theirs: Figure, least: float | None) -> Figure:
    """How many times as good; a time below the clock's step counts as one step."""
    one, other = max(ours.value, 0.01), max(theirs.value, 0.01)
    value = one / other if ours.unit == "/s" else other / one
    return Figure(name=f"{ours.name}, beside {theirs.name}", value=value, unit="x", least=least)


def _row(figure: Figure) -> str:
    return f"| {figure.name} | {_measured(figure)} | {_target(figure)} | {_met(figure)} | {figure.note} |"


def _measured(figure: Figure) -> str:
    return f"{_number(figure.value)} {figure.unit}".strip()


def _target(figure: Figure) -> str:
    if figure.least is not None:
        return f"at least {_number(figure.least)}"
    return "" if figure.most is None else f"at most {_number(figure.most)}"


def _met(figure: Figure) -> str:
    return {None: "", True: "yes", False: "**no**"}[figure.met]


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
