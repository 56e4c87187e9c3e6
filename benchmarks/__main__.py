"""All benchmarks, one after another, as a table, as `benchmarks/RESULTS.md` and as its two pictures.

    python -m benchmarks                 everything
    python -m benchmarks firing claims   these alone; prints, and writes nothing

A part that raises or takes too long is told in the results; the others are measured all the same.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from benchmarks import plots
from benchmarks.harness import QUICK
from benchmarks.parts import PARTS, measure
from benchmarks.results import Run, described, table

RESULTS = Path(__file__).with_name("RESULTS.md")
WHOLE_S = 270.0 if QUICK else 1_750.0
"""How long all parts may take together, in seconds."""


def main(wanted: list[str]) -> int:
    run = Run(command=f"{'QUICK=1 ' if QUICK else ''}python -m benchmarks", load_before=os.getloadavg()[0])
    began = time.monotonic()
    for name in wanted or PARTS:
        print(f"-- {name}", end="", flush=True)
        part = measure(name, WHOLE_S - (time.monotonic() - began))
        run.parts.append(part)
        print(f"  {part.seconds:.0f} s{'  ' + part.problem if part.problem else ''}", flush=True)
        if part.problem:
            print(part.last_words, file=sys.stderr)
    run.seconds = time.monotonic() - began
    run.load_after = os.getloadavg()[0]
    print(table(run.figures))
    if wanted:
        return 1 if any(part.problem for part in run.parts) else 0
    RESULTS.write_text(described(run), encoding="utf-8")
    plots.write(run.figures, RESULTS.parent)
    print(f"written to {RESULTS}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
