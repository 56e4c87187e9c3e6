"""The parts of the benchmark: their order, how long each is to take, and running one in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

from benchmarks.databases import database_name, drop
from benchmarks.harness import QUICK, Figure
from benchmarks.processes import broker_prefix, family, forget_messages

TIDY_S = 20.0
"""How long a part that was asked to end may take to drop its database and end its processes."""
OVER = 2
"""How many times its budget a part may take before it is stopped: on a busy machine each takes longer."""
LEAST_S = 30
"""And so many seconds in any case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one part is to take."""

    title: str
    quick_s: int
    long_s: int

    @property
    def budget_s(self) -> int:
        """In this run."""
        return self.quick_s if QUICK else self.long_s


PARTS = {
    "firing": Plan(title="Firing in one process", quick_s=21, long_s=130),
    "together": Plan(title="Firing through beat and two workers, and through toa run", quick_s=52, long_s=200),
    "peers.procrastinate_jobs": Plan(title="procrastinate", quick_s=17, long_s=100),
    "peers.celery_tasks": Plan(title="Celery", quick_s=21, long_s=130),
    "peers.dbos_workflows": Plan(title="DBOS", quick_s=21, long_s=200),
    "runs": Plan(title="Runs of workflows", quick_s=20, long_s=80),
    "arming": Plan(title="Arming", quick_s=10, long_s=45),
    "calls": Plan(title="A call", quick_s=6, long_s=30),
    "users": Plan(title="People's calls during a drain", quick_s=9, long_s=60),
    "claims": Plan(title="A claim", quick_s=13, long_s=150),
    "peers.procrastinate_pending": Plan(title="procrastinate, a fetch", quick_s=8, long_s=130),
    "idle": Plan(title="While idle", quick_s=26, long_s=150),
    "backlog": Plan(title="Beside a backlog", quick_s=10, long_s=60),
    "deaths": Plan(title="Deaths", quick_s=25, long_s=60),
    "deadlines": Plan(title="Deadlines in one process", quick_s=6, long_s=40),
    "web": Plan(title="Requests", quick_s=6, long_s=45),
    "looking": Plan(title="Pages of the admin", quick_s=12, long_s=140),
}
"""By name, in their order. What has a target first, beside what it is compared with; the longest lists last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What became of one part."""

    name: str
    seconds: float = 0.0
    figures: list[Figure] = field(default_factory=list)
    problem: str = ""
    """Why not all of it was measured; empty where it was."""
    last_words: str = ""

    @property
    def title(self) -> str:
        """What it is about."""
        return PARTS[self.name].title if self.name in PARTS else self.name

    @property
    def took(self) -> str:
        """Its seconds beside those it has."""
        if self.name not in PARTS:
            return f"{self.seconds:.0f} s"
        budget = PARTS[self.name].budget_s
        return f"{self.seconds:.0f} s of {budget}{', over its budget' if self.seconds > budget else ''}"


def measure(name: str) -> Part:
    """Run it, for a limited time. Nothing of it is left, whatever becomes of it."""
    limit = max(LEAST_S, OVER * PARTS[name].budget_s) if name in PARTS else None
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", f"benchmarks.{name}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    problem = "stopped"
    try:
        try:
            said, errors = process.communicate(timeout=limit)
            problem = f"ended with status {process.returncode}" if process.returncode else ""
        except subprocess.TimeoutExpired:
            said, errors = _asked_to_end(process)
            problem = f"stopped after {limit} s"
    finally:
        # It is in a session of its own: where this process is stopped, nobody else tells it.
        if process.returncode is None:
            _asked_to_end(process)
        if problem:
            drop(database_name(process.pid))
            forget_messages(broker_prefix(process.pid))
    return Part(
        name=name,
        seconds=time.monotonic() - began,
        figures=[Figure(**json.loads(line)) for line in said.splitlines() if line.startswith("{")],
        problem=f"{problem}: {_last_line(errors)}" if problem else "",
        last_words=errors[-2_000:],
    )


def _asked_to_end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it said until then. Where it does not end, it is killed with all that it started."""
    process.terminate()
    try:
        return process.communicate(timeout=TIDY_S)
    except subprocess.TimeoutExpired:
        # What it runs beside itself is in sessions of its own; what it forked is in its own, and holds its output open.
        for pid in list(family(process.pid)) if process.poll() is None else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def _last_line(errors: str) -> str:
    lines = errors.strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"
