"""All benchmarks, one after another, as a table and as `benchmarks/RESULTS.md`.

python -m benchmarks                 everything
python -m benchmarks firing claims   these alone; prints, and writes nothing
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.harness import QUICK, Figure
from benchmarks.results import Run, described, table

PARTS = (
    "firing",
    "together",
    "arming",
    "calls",
    "claims",
    "runs",
    "looking",
    "web",
    "peers.procrastinate_jobs",
    "peers.celery_tasks",
    "peers.dbos_workflows",
)
RESULTS = Path(__file__).with_name("RESULTS.md")


def main(wanted: list[str]) -> int:
    run = Run(command=f"{'QUICK=1 ' if QUICK else ''}python -m benchmarks", load_before=os.getloadavg()[0])
    began = time.monotonic()
    failed = []
    for part in wanted or PARTS:
        print(f"-- {part}", flush=True)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", f"benchmarks.{part}"],
            capture_output=True,
            text=True,
            check=False,
        )
        run.figures += [Figure(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode:
            failed.append(part)
            print(done.stderr[-2_000:], file=sys.stderr)
    run.seconds = time.monotonic() - began
    run.load_after = os.getloadavg()[0]
    run.failed = failed
    print(table(run.figures))
    if not wanted:
        RESULTS.write_text(described(run), encoding="utf-8")
        print(f"written to {RESULTS}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
