"""All benchmarks, one after another, as a table, as `benchmarks/RESULTS.md` and as its two pictures.

    python -m benchmarks                 everything
    python -m benchmarks firing claims   these alone; prints, and writes nothing

A part that raises or takes too long is told in the results; the others are measured all the same.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from benchmarks import plots
from benchmarks.databases import prepared
from benchmarks.harness import QUICK
from benchmarks.parts import PARTS, measure
from benchmarks.results import Run, described, parts

RESULTS = Path(__file__).with_name("RESULTS.md")


def main(wanted: list[str]) -> int:
    for number in _STOPPING:
        signal.signal(number, _stop)
    run = Run(command=f"{'QUICK=1 ' if QUICK else ''}python -m benchmarks", load_before=os.getloadavg()[0])
    names = wanted or list(PARTS)
    with prepared():
        began = time.monotonic()
        for name in names:
            print(f"-- {name}", end="", flush=True)
            part = measure(name)
            run.parts.append(part)
            print(f"  {part.took}{'  ' + part.problem if part.problem else ''}", flush=True)
            if part.problem:
                print(part.last_words, file=sys.stderr)
    run.seconds = time.monotonic() - began
    run.load_after = os.getloadavg()[0]
    if wanted:
        print(parts(run))
        return 1 if any(part.problem for part in run.parts) else 0
    text = described(run)
    print(text)
    RESULTS.write_text(text, encoding="utf-8")
    plots.write(run.figures, RESULTS.parent)
    print(f"written to {RESULTS}")
    return 0


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """End what runs, and not twice: a second Ctrl-C would leave it."""
    for one in _STOPPING:
        signal.signal(one, signal.SIG_IGN)
    sys.exit(f"stopped by {signal.Signals(number).name}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
