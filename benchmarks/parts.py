"""The parts of the benchmark: their order, how long each may take, and running one in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

import psycopg

from benchmarks.harness import QUICK, Figure, database_name
from config import servers

PARTS = (
    "firing",
    "deadlines",
    "together",
    "users",
    "backlog",
    "deaths",
    "arming",
    "calls",
    "claims",
    "peers.procrastinate_pending",
    "idle",
    "runs",
    "peers.procrastinate_jobs",
    "peers.celery_tasks",
    "peers.dbos_workflows",
    "peers.procrastinate_late",
    "peers.celery_late",
    "peers.dbos_late",
    "looking",
    "web",
)
"""What has a target first: where time runs out, the last ones are left out."""
LIMIT_S = 90.0 if QUICK else 900.0
"""How long one part may take, in seconds."""
TIDY_S = 20.0
"""How long a part that was asked to end may take to drop its database and end its processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What became of one part."""

    name: str
    seconds: float = 0.0
    figures: list[Figure] = field(default_factory=list)
    problem: str = ""
    """Why not all of it was measured; empty where it was."""
    last_words: str = ""


def measure(name: str, left_s: float) -> Part:
    """Run it, in the time that is left at most."""
    if left_s <= TIDY_S:
        return Part(name=name, problem="left out: no time was left")
    limit = min(LIMIT_S, left_s)
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", f"benchmarks.{name}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, errors = process.communicate(timeout=limit)
        problem = f"ended with status {process.returncode}" if process.returncode else ""
    except KeyboardInterrupt:
        # It is in a session of its own, where nobody else tells it.
        process.send_signal(signal.SIGTERM)
        process.wait(TIDY_S)
        raise
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        problem = f"stopped after {limit:.0f} s"
        try:
            said, errors = process.communicate(timeout=TIDY_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what it forked holds its output open
            said, errors = process.communicate()
    if problem:
        _drop(database_name(process.pid))
        problem = f"{problem}: {_last_line(errors)}"
    return Part(
        name=name,
        seconds=time.monotonic() - began,
        figures=[Figure(**json.loads(line)) for line in said.splitlines() if line.startswith("{")],
        problem=problem,
        last_words=errors[-2_000:],
    )


def _last_line(errors: str) -> str:
    lines = errors.strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"


def _drop(name: str) -> None:
    with psycopg.connect(servers.database_url(), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
